"""Explain failures of builds, installations, imports and tests, with a fix.

Causes and fixes are the rows of ``failures.toml``.
"""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmr_author.core.errors import Hint, SandboxBuildError, Setting
from lmr_author.core.task import TORCH_FAMILY
from lmr_author.runtime.environment import lock_file
from lmr_author.runtime.environment.needs import exact_version
from lmr_author.runtime.environment.packages import (
    debian,
    distribution,
    library_of,
    names,
    package_of,
    table,
)

Stage = Literal["build", "install", "import", "script"]
"""``build``: an instruction of the Dockerfile; ``install``: uv, locally; ``import``: the smoke test; ``script``: a
hand-written test."""

_TRACEBACK = "Traceback (most recent call last):"
_LED_TO = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
_BUILT = (
    r"╰─> (?!See)([\w.-]+)\s*$",
    r"Failed building wheel for ([\w.-]+)",
    r"Failed to build [`']?([\w.-]+?)(?:==|`|'|\s*$)",
)
"""Messages of pip and uv about a package that failed to build."""


@dataclass(frozen=True)
class Failure:
    """A failed step and its output.

    Attributes:
        where: the instruction, or the imported file.
        text: its output, or the traceback.
        missing: all modules that the imported code needs and the environment lacks.
        lock: the text of the installed lock, if known.
    """

    stage: Stage
    where: str
    text: str
    missing: tuple[str, ...] = ()
    lock: str = ""


@dataclass(frozen=True)
class Explanation:
    """The explanation of a failure.

    Attributes:
        name: the row's name.
        cause: one line, without a final full stop.
        advice: next steps, in the same format, starting with the fix.
        fix: kind of change, from the table ``fixes``; "" if a person must decide.
        names: arguments of the fix: packages, requirements, an instruction.
        about: ``machine``, ``environment`` or "" (the code).
    """

    name: str
    cause: str
    advice: str
    about: str
    fix: str = ""
    names: tuple[str, ...] = ()


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("failures.toml").read_text("utf-8"))


def rows(stage: Stage) -> list[tuple[str, dict[str, Any]]]:
    if stage in ("import", "script"):
        return [("" if row.get("code") else "environment", row) for row in _data()[stage]]
    return [*(("machine", row) for row in _data()["machine"]), *(("", row) for row in _data()["build"])]


def explain(failure: Failure, about: str = "") -> Explanation | None:
    """Return the first matching explanation, or None; of an import, one of its last exception before one of its causes.

    Args:
        about: restrict to rows about this; "" for all.
    """
    last = failure.text.rpartition(_TRACEBACK)[2] if failure.stage == "import" else failure.text
    for text in dict.fromkeys((last, failure.text)):
        part = replace(failure, text=text)
        for topic, row in rows(failure.stage):
            if about in ("", topic) and (match := _match(row, part)):
                words: dict[str, str] = defaultdict(str, _words(match, part))
                if explanation := _explanation(row, topic, words, failure.lock):
                    return explanation
    return None


def _match(row: dict[str, Any], failure: Failure) -> re.Match[str] | None:
    def search(pattern: str, text: str = failure.text) -> re.Match[str] | None:
        return re.search(pattern, text, re.IGNORECASE | re.MULTILINE)

    if not search(row.get("where", ""), failure.where) or not search(row.get("also", "")):
        return None
    return None if "not" in row and search(row["not"]) else search(row["pattern"])


def _explanation(row: dict[str, Any], topic: str, words: dict[str, str], lock: str) -> Explanation | None:
    """Fill in the texts of a row; None if its fix lacks a word and there is no alternative."""
    cause = " ".join(row["cause"].format_map(words).split())
    advice, fix = row.get("advice", "").format_map(words), row.get("fix", "")
    if not fix:
        return Explanation(row["name"], cause, advice, topic)
    needed = set(re.findall(r"\{(\w+)\}", fix)) - {"compiler", "needed"}
    if not all(words[name] for name in needed):
        otherwise = row.get("otherwise", "").format_map(words)
        return Explanation(row["name"], cause, otherwise, topic) if otherwise else None
    kind, _, argument = fix.format_map(words).partition(" ")
    names = (argument,) if kind == "dockerfile" else tuple(dict.fromkeys(argument.split()))
    advice = "; ".join(filter(None, [_fix(kind, names, lock), advice]))
    return Explanation(row["name"], cause, advice, topic, kind, names)


def _fix(kind: str, names: tuple[str, ...], lock: str) -> str:
    template: str = _data()["fixes"][kind]
    return template.format(
        text=" ".join(names),
        rest=shlex.join(names[1:]),
        pin=_pin(names, lock),
        command=lock_file.command(lock, *_options(kind, names, lock)),
    )


def _pin(names: tuple[str, ...], lock: str) -> str:
    first = names[0] if names else ""
    return lock_file.requirements(lock).get(canonicalize_name(first), first)


def _options(kind: str, names: tuple[str, ...], lock: str) -> list[str]:
    if kind == "requirements":
        return [word for name in names for word in ("--with", name)]
    if kind == "without":
        return ["--without", names[0]]
    pin, sign = _pin(names, lock), {"newer": ">", "older": "<"}.get(kind)
    if not sign:
        return []
    return ["--with", pin.replace("==", sign) if "==" in pin else f"{names[0]}{sign}VERSION"]


def _words(match: re.Match[str], failure: Failure) -> dict[str, str]:
    groups = {key.rstrip("0123456789"): value for key, value in match.groupdict().items() if value}
    if "program" in groups and "/" not in groups["program"]:
        groups["program"] = groups["program"].lower()
    package = _culprit(failure.text)
    module = groups.get("module", "").partition(".")[0]
    modules = list(dict.fromkeys(filter(None, (module, *failure.missing))))
    providers = dict.fromkeys(filter(None, map(distribution, modules)))
    words = {
        "package": package or "a package",
        "name": "" if canonicalize_name(package) in names("built_with_torch") else canonicalize_name(package),
        "compiler": "build-essential python3-dev" if package else "",
        "library": _failing_library(failure.text),
        "inner": _inner_error(failure.text) or groups.get("said", ""),
        "modules": f"{', '.join(modules)} {'is' if len(modules) == 1 else 'are'}",
        "distributions": " ".join(provider for provider in providers if provider not in TORCH_FAMILY),
        "debian": _debian_package(groups) or table("modules").get(module, ""),
    }
    if failure.where[:5].upper() == "FROM ":
        words["image"] = failure.where.split()[1]
    if module and module not in sys.stdlib_module_names and module not in TORCH_FAMILY:
        words["distribution"] = library_of(module)
        words["needed"] = canonicalize_name(distribution(module) or module)
        known = distribution(module) or words["needed"] in lock_file.requirements(failure.lock)
        words["installed"] = words["needed"] if known else ""
    return {**words, **groups}


def _debian_package(groups: dict[str, str]) -> str:
    for kind, group in (("headers", "header"), ("programs", "program"), ("libraries", "file")):
        if group in groups and (package := debian(kind, groups[group])):
            return package
    return ""


def _culprit(text: str) -> str:
    """Return the package that pip or uv was building; "" if unknown."""
    for pattern in _BUILT:
        if match := re.search(pattern, text, re.M):
            return match[1]
    started = re.findall(r"/pip-install-\w+/([\w.-]+?)_[0-9a-f]{32}/", text)
    started = started or re.findall(r"^\s*Collecting ([\w.-]+)", text, re.M)
    return str(started[-1]) if started else ""


def _inner_error(text: str) -> str:
    """Return the last error of the build itself, between pip's "lines of output" and "[end of output]"."""
    output = "\n".join(re.findall(r"lines? of output\]\n([\s\S]*?)\[end of output\]", text))
    if compilers := re.findall(r"^\s*\S+:\d+:(?:\d+:)? (?:fatal )?error: (.*?)\s*$", output, re.M):
        return str(compilers[0])[:200]
    errors = re.findall(
        r"^\s*((?:[\w.]+(?:Error|Exception|Exit)|error(?!: [Cc]ommand )): .*?)\s*$", output, re.M
    )
    return str(errors[-1])[:200] if errors else ""


def _failing_library(text: str) -> str:
    """Return the library whose code failed; "" for the repository's code or PyTorch."""
    library = ""
    for file in re.findall(r'^ *File "([^"]+)", line', text, re.M):
        # Skip Python's own files: their caller failed.
        if "-packages/" in file or "/lib/python3" not in file:
            match = re.search(r"-packages/(\w+)", file)
            library = library_of(match[1]) if match else ""
    return "" if library in TORCH_FAMILY else library


def explain_build(error: SandboxBuildError, lock: str = "") -> Explanation | None:
    return explain(Failure("build", error.step, "\n".join(error.said) or error.message, lock=lock))


def build_hint(error: SandboxBuildError) -> str:
    """Return the hint for a failed build: the likely cause and its fix, if known."""
    explanation = explain_build(error)
    if explanation is None:
        return error.hint
    whole = f"; full log: {error.log}" if error.log else ""
    return f"{explanation.cause}: {explanation.advice}{whole}"


def explain_command(
    text: str, *, in_image: bool, python: Path | None, lock: str = "", made_by: Sequence[str] = ()
) -> Hint:
    """Return cause and advice if a command's traceback shows that its environment is to blame, else an empty hint.

    Reads the last exception, then its causes, but no other output: libraries print many irrelevant warnings.

    Args:
        text: the command's output.
        in_image: the command ran in the task's image.
        python: the interpreter that the annotator named; None for the task's environment, or none.
        lock: the task's requirements.lock, whose options the suggested command repeats.
        made_by: see :func:`local_repair`.
    """
    parts = text.split(_TRACEBACK)
    first = len(parts) - 1
    while first > 0 and parts[first - 1].rstrip().endswith(_LED_TO):
        first -= 1
    chain = _TRACEBACK.join(parts[first:])
    explanation = explain(Failure("import", "", chain, lock=lock), "environment")
    # An unknown module may be the repository's own, not a missing package.
    if explanation is None or (explanation.name == "no-module" and not explanation.fix):
        return Hint("")
    if python is None and _is_locked(explanation, lock):
        command = shlex.join(["lmr-author", "env", *(["build"] if in_image else ["local", *made_by])])
        setting = Setting("--with", tuple(explanation.names), f"`{command}`")
        return Hint(f"{explanation.cause}, although it is in requirements.lock: {{0}}", (setting,))
    here = "" if in_image else f"; {local_repair(explanation, python, made_by)}"
    advice, option = f"{explanation.advice}{here}", _options(explanation.fix, explanation.names, lock)
    if not option:
        return Hint(f"{explanation.cause}: {advice}")
    known = tuple(value for value in option[1::2] if not value.endswith("VERSION"))
    return Hint(f"{explanation.cause}: {{0}}", (Setting(option[0], known, advice),))


def _is_locked(explanation: Explanation, lock: str) -> bool:
    pins = lock_file.requirements(lock)
    for wanted in map(Requirement, explanation.names if explanation.fix == "requirements" else ()):
        pin = pins.get(canonicalize_name(wanted.name))
        if pin is None or not wanted.specifier.contains(exact_version(pin) or "0", prereleases=True):
            return False
    return explanation.fix == "requirements"


def local_repair(explanation: Explanation, python: Path | None = None, made_by: Sequence[str] = ()) -> str:
    """Return the fix for this machine only.

    Args:
        python: see :func:`explain_command`.
        made_by: options of `env local` that created the task's environment; the suggested command repeats them, as it
            creates another environment.
    """
    names = explanation.names
    if explanation.fix == "variable":
        return "the local sandbox sets it too"
    if explanation.fix == "system":
        return f"here by `apt-get install {' '.join(names)}`"
    if explanation.fix != "requirements":
        return "or run in the task's image (--sandbox docker), or with another Python (--python)"
    if python is not None:
        return f"here by `{shlex.join(['uv', 'pip', 'install', '--python', str(python), *names])}`"
    replaced = set(map(package_of, names))
    repeated = [option for option in made_by if package_of(option.removeprefix("--with=")) not in replaced]
    command = ["lmr-author", "env", "local", *repeated, *(f"--with={name}" for name in names)]
    return f"here by `{shlex.join(command)}`"

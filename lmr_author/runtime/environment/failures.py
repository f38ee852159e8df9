"""Explain why an environment could not be built, or something not imported or run in it, and what helps.

Causes and remedies are the rows of ``failures.toml``.
"""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from packaging.utils import canonicalize_name

from lmr_author.core.task import TORCH_FAMILY
from lmr_author.runtime.environment import lock_file
from lmr_author.runtime.environment.packages import debian, distribution, library_of, names, table

Stage = Literal["build", "install", "import", "script"]
"""``build``: an instruction of the Dockerfile; ``install``: uv, locally; ``import``: the smoke test; ``script``: a
hand-made test."""

_TRACEBACK = "Traceback (most recent call last):"
_LED_TO = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)


@dataclass(frozen=True)
class Failure:
    """Something that failed, and its output.

    Attributes:
        where: the instruction, or the file that was imported.
        text: its output, or the traceback.
        missing: all modules that the imported code needs and the environment lacks.
        lock: the text of the lock that was installed, as far as it is known.
    """

    stage: Stage
    where: str
    text: str
    missing: tuple[str, ...] = ()
    lock: str = ""


@dataclass(frozen=True)
class Fix:
    """A change of a task's Dockerfile or lock that puts a failure right.

    Attributes:
        kind: one of the table ``fixes``.
        names: what it is about: packages, requirements, an instruction.
    """

    kind: str
    names: tuple[str, ...] = ()

    def text(self, lock: str) -> str:
        """Return the command or the edit, to be pasted."""
        first = self.names[0] if self.names else ""
        pin = lock_file.requirements(lock).get(canonicalize_name(first), first)
        words = {
            "requirements": [word for name in self.names for word in ("--with", name)],
            "newer": ["--with", pin.replace("==", ">") if "==" in pin else f"{first}>VERSION"],
            "older": ["--with", pin.replace("==", "<") if "==" in pin else f"{first}<VERSION"],
            "without": ["--without", first],
            "relax": ["--relax"],
        }
        template: str = _data()["fixes"][self.kind]
        return template.format(
            text=" ".join(self.names),
            rest=shlex.join(self.names[1:]),
            pin=pin,
            command=lock_file.command(lock, *words.get(self.kind, [])),
        )


@dataclass(frozen=True)
class Explanation:
    """A failure explained.

    Attributes:
        name: the row's.
        cause: one line, without a final full stop.
        advice: what to try, likewise.
        fix: the change that helps, which the advice begins with; None when a person has to decide.
        about: ``machine``, ``environment`` or "" (the code).
    """

    name: str
    cause: str
    advice: str
    fix: Fix | None = None
    about: str = ""


LOCK_FIXES = frozenset({"requirements", "newer", "older", "without", "relax"})
"""Kinds of fixes that make the lock again."""


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("failures.toml").read_text("utf-8"))


def _search(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE)


def rows(stage: Stage) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows for a stage, in order, each with what it is about."""
    if stage in ("import", "script"):
        return [("" if row.get("code") else "environment", row) for row in _data()[stage]]
    return [*(("machine", row) for row in _data()["machine"]), *(("", row) for row in _data()["build"])]


def explain(failure: Failure, about: str = "") -> Explanation | None:
    """Return the first explanation that fits; None when none does, and the log has to be read.

    Args:
        about: only rows about this; "" for all.
    """
    for topic, row in rows(failure.stage):
        match = _search(row["pattern"], failure.text)
        if match is None or about not in ("", topic) or not _fits(row, failure):
            continue
        if explanation := _explanation(row, topic, match, failure):
            return explanation
    return None


def _fits(row: dict[str, Any], failure: Failure) -> bool:
    """Return whether a failure meets the further conditions of a row."""
    if not _search(row.get("where", ""), failure.where) or not _search(row.get("also", ""), failure.text):
        return False
    return "not" not in row or not _search(row["not"], failure.text)


def _explanation(
    row: dict[str, Any], topic: str, match: re.Match[str], failure: Failure
) -> Explanation | None:
    """Fill in the texts of a row; None where its fix lacks a word, and it says nothing of that case."""
    words: dict[str, str] = defaultdict(str, _words(match, failure))
    cause = " ".join(row["cause"].format_map(words).split())
    advice = row.get("advice", "").format_map(words)
    if "fix" not in row:
        return Explanation(row["name"], cause, advice, about=topic)
    wanted = set(re.findall(r"\{(\w+)\}", row["fix"])) - {"compiler", "needed"}
    if all(words[name] for name in wanted):
        kind, _, rest = row["fix"].format_map(words).partition(" ")
        fix = Fix(kind, (rest,) if kind == "dockerfile" else tuple(dict.fromkeys(rest.split())))
        advice = "; ".join(filter(None, [fix.text(failure.lock), advice]))
        return Explanation(row["name"], cause, advice, fix, topic)
    if "otherwise" in row:
        return Explanation(row["name"], cause, row["otherwise"].format_map(words), about=topic)
    return None


def _words(match: re.Match[str], failure: Failure) -> dict[str, str]:
    """The values that the texts of a row may use."""
    groups = {key.rstrip("0123456789"): value for key, value in match.groupdict().items() if value}
    if "program" in groups and "/" not in groups["program"]:
        groups["program"] = groups["program"].lower()
    package = culprit(failure.text)
    name = canonicalize_name(package)
    module = groups.get("module", "").partition(".")[0]
    modules = [word for word in dict.fromkeys((module, *failure.missing)) if word]
    distributions = []
    for word in modules:
        provider = distribution(word)
        if provider and provider not in TORCH_FAMILY:
            distributions.append(provider)
    is_from_image = failure.where[:5].upper() == "FROM "
    is_foreign = bool(module) and module not in sys.stdlib_module_names and module not in TORCH_FAMILY
    return {
        "package": package or "a package",
        "name": "" if name in names("built_with_torch") else name,
        "compiler": "build-essential python3-dev" if package else "",
        "image": failure.where.split()[1] if is_from_image else "",
        "library": _failing_library(failure.text),
        "distribution": library_of(module) if is_foreign else "",
        "inner": _inner_error(failure.text) or groups.get("said", ""),
        "needed": _needed(module, failure.text),
        "modules": f"{', '.join(modules)} {'is' if len(modules) == 1 else 'are'}",
        "distributions": " ".join(dict.fromkeys(distributions)),
        "debian": _debian_package(groups) or table("modules").get(module, ""),
        "conflict": _conflict(failure),
        **groups,
    }


def _debian_package(groups: dict[str, str]) -> str:
    """Return the Debian package of the header, program or library that a row names; "" when it is not known."""
    for kind, group in (("headers", "header"), ("programs", "program"), ("libraries", "file")):
        if group in groups and (package := debian(kind, groups[group])):
            return package
    return ""


def _conflict(failure: Failure) -> str:
    """The requirements that exclude one another, in pip's words without its own lines of the file."""
    block = re.search(r"^The conflict is caused by:\n((?:[ \t]+\S.*\n?)+)", failure.text, re.M)
    lines = [line.strip() for line in block[1].splitlines()] if block else []
    who = [re.sub(r"^The user requested (\(constraint\) )?", "", line) for line in lines]
    return " and ".join(dict.fromkeys(who[:5])) or "the requirements"


def _needed(module: str, text: str) -> str:
    """The distribution that a build needs beside setuptools and wheel; "" for PyTorch, which the image has.

    Of ``setup_requires`` setuptools fetches what is newest today; one of the commit's day does not need that.
    """
    egg = re.search(r"/\.eggs/([\w.]+)-\d[^/]*\.egg/", text)
    needed = canonicalize_name(egg[1] if egg else distribution(module) or module)
    return "" if needed in TORCH_FAMILY or (not egg and module in sys.stdlib_module_names) else needed


def culprit(text: str) -> str:
    """Return the package that pip or uv was building, "" when they do not say."""
    built = re.search(
        r"╰─> ([\w.-]+)\s*$|Failed building wheel for ([\w.-]+)|Failed to build [`']?([\w.-]+?)(?:==|`|'|\s*$)",
        text,
        re.M,
    )
    name = next((group for group in built.groups() if group), "") if built else ""
    if name and name != "See":
        return name
    unpacked = re.findall(r"/pip-install-\w+/([\w.-]+?)_[0-9a-f]{32}/", text)
    return str((unpacked or re.findall(r"^\s*Collecting ([\w.-]+)", text, re.M) or [""])[-1])


def _inner_error(text: str) -> str:
    """The last error of the build itself, between pip's "lines of output" and "[end of output]"."""
    told = "\n".join(re.findall(r"lines? of output\]\n([\s\S]*?)\[end of output\]", text))
    if compilers := re.findall(r"^\s*\S+:\d+:(?:\d+:)? (?:fatal )?error: (.*?)\s*$", told, re.M):
        return str(compilers[0])[:200]
    errors = re.findall(r"^\s*((?:[\w.]+(?:Error|Exception|Exit)|error): .*?)\s*$", told, re.M)
    plain = [line for line in errors if not line.startswith(("error: Command ", "error: command "))]
    return str((plain or errors or [""])[-1])[:200]


def _failing_library(text: str) -> str:
    """The library whose code failed; "" where it is the repository's, or PyTorch's."""
    files = re.findall(r'^ *File "([^"]+)", line', text, re.M)
    # Python's own files come last when they were called: by whom is what counts.
    callers = [file for file in files if "-packages/" in file or "/lib/python3" not in file]
    library = re.search(r"-packages/(\w+)", callers[-1]) if callers else None
    name = library_of(library[1]) if library else ""
    return "" if name in TORCH_FAMILY else name


def explain_command(text: str, *, in_image: bool, python: Path | None, lock: str = "") -> str:
    """Return cause and advice where a command that ended with a traceback shows that its environment is to blame.

    The last exception is looked at first, then those that led to it; not what else was printed: libraries warn of
    what nobody needs. "" when it is something else: the program's own mistake.

    Args:
        text: the command's output.
        in_image: the command ran in the task's image.
        python: the interpreter that the annotator named; None for the environment of the task, or none at all.
        lock: the task's requirements.lock, whose options the command that makes it again has to repeat.
    """
    parts = text.split(_TRACEBACK)
    chain = [parts[-1]]
    for part in reversed(parts[:-1]):
        if not part.rstrip().endswith(_LED_TO):
            break
        chain.insert(0, part)
    outputs = [chain[-1], _TRACEBACK.join(chain)]
    explained = (explain(Failure("import", "", output, lock=lock), "environment") for output in outputs)
    found = next(filter(None, explained), None)
    # An unknown module may come from anywhere: the place decides, not the environment.
    if found is None or (found.name == "no-module" and not found.fix):
        return ""
    here = "" if in_image else local_repair(found, python)
    return "; ".join(filter(None, [f"{found.cause}: {found.advice}", here]))


def local_repair(found: Explanation, python: Path | None = None) -> str:
    """Return what helps on this machine alone.

    Args:
        python: see :func:`explain_command`.
    """
    if found.fix is not None and found.fix.kind == "system":
        return f"here by `apt-get install {' '.join(found.fix.names)}`"
    if found.fix is not None and found.fix.kind == "requirements":
        if python is None:
            command = ["lmr-author", "env", "local", *(f"--with={name}" for name in found.fix.names)]
        elif (python.parent.parent / "pyvenv.cfg").is_file() and not _has_pip(python):
            command = ["uv", "pip", "install", "--python", str(python), *found.fix.names]
        else:
            command = [str(python), "-m", "pip", "install", *found.fix.names]
        return f"here by `{shlex.join(command)}`"
    return "or run in the task's image (--sandbox docker), or with another Python (--python)"


def _has_pip(python: Path) -> bool:
    """Return whether a virtual environment has pip: one that uv made has none."""
    return any((python.parent.parent / "lib").glob("python*/site-packages/pip"))

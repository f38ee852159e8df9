"""Explain why an environment could not be built, or the repository not imported in it, and what fixes it.

Causes and fixes are the rows of ``failures.toml``.
"""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from packaging.utils import canonicalize_name

from lmr_author.environment.packages import debian, library_of, names, table
from lmr_author.task import TORCH_FAMILY

Stage = Literal["build", "install", "import"]
"""``build``: an instruction of the Dockerfile; ``install``: uv, locally; ``import``: the smoke test."""

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
    """

    stage: Stage
    where: str
    text: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fix:
    """A change of a task's Dockerfile or lock that puts a failure right.

    Attributes:
        kind: one of the table ``fixes``.
        names: what it is about: packages, requirements, a variable.
    """

    kind: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        first, rest = self.names[:1], self.names[1:]
        return str(_data()["fixes"][self.kind]).format(
            names=", ".join(self.names), first=", ".join(first), rest=", ".join(rest), s="s" * bool(rest)
        )


@dataclass(frozen=True)
class Explanation:
    """A failure explained.

    Attributes:
        name: the row's.
        cause: one line, without a final full stop.
        advice: what to try, likewise.
        fix: the change that ``--fix`` makes; None when a person has to decide.
        about: ``machine``, ``environment`` or "" (the code).
    """

    name: str
    cause: str
    advice: str
    fix: Fix | None = None
    about: str = ""


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("failures.toml").read_text("utf-8"))


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


def explain(failure: Failure, about: str = "") -> Explanation | None:
    """Return the first explanation that fits; None when none does, and the log has to be read.

    Args:
        about: only rows about this; "" for all.
    """
    for row in _data()["failure"]:
        if failure.stage not in row.get("on", (failure.stage,)) or (about and row.get("about") != about):
            continue
        match = _pattern(row["pattern"]).search(failure.text)
        if (
            match is None
            or not _pattern(row.get("where", "")).search(failure.where)
            or not _pattern(row.get("also", "")).search(failure.text)
            or ("not" in row and _pattern(row["not"]).search(failure.text))
        ):
            continue
        words = _words(match, failure)
        if "lookup" in row:
            kind, key = row["lookup"].split()
            words["debian"] = debian(kind, words.get(key, "").replace("CMake", "cmake"))
        if all(words.get(name) for name in row.get("needs", ())):
            return _explanation(row, words)
    return None


def _explanation(row: dict[str, Any], words: dict[str, str]) -> Explanation:
    cause = " ".join(row["cause"].format_map(words).split())
    advice = row.get("advice", "").format_map(words)
    fix = None
    if "fix" in row:
        kind, *rest = row["fix"].format_map(words).split()
        fix = Fix(kind, tuple(dict.fromkeys(rest)))
        advice = "; ".join(filter(None, [str(fix), advice]))
    return Explanation(row["name"], cause, advice, fix, row.get("about", ""))


def _words(match: re.Match[str], failure: Failure) -> dict[str, str]:
    """The values that the texts of a row may use."""
    groups = {key.rstrip("0123456789"): value for key, value in match.groupdict().items() if value}
    name = culprit(failure.text)
    module = groups.get("module", "").partition(".")[0]
    known = table("imports")
    modules = list(dict.fromkeys(filter(None, (module, *failure.missing))))
    ours = [one for one in (known.get(item) for item in modules) if one and one not in TORCH_FAMILY]
    image = failure.where.split()[1] if failure.where[:5].upper() == "FROM " else ""
    standard = module in sys.stdlib_module_names
    needed = _needed(module, failure.text)
    return {
        "package": name or "a package",
        "name": canonicalize_name(name),
        "image": image,
        "library": _failing_library(failure.text),
        "distribution": "" if standard or module in TORCH_FAMILY else library_of(module),
        "inner": _inner_error(failure.text) or groups.get("said", ""),
        "needed": needed,
        "buildable": "" if canonicalize_name(name) in names("built_with_torch") else "yes",
        "modules": f"{', '.join(modules)} {'is' if len(modules) == 1 else 'are'}",
        "distributions": " ".join(dict.fromkeys(ours)),
        "debian_modules": " ".join(table("modules")[item] for item in modules if item in table("modules")),
        "unavailable": module if known.get(module) == "" else "",
        **groups,
    }


def _needed(module: str, text: str) -> str:
    """The distribution that a build needs beside setuptools and wheel; "" for PyTorch, which the image has.

    Of ``setup_requires`` setuptools fetches what is newest today; one of the commit's day does not need that.
    """
    egg = re.search(r"/\.eggs/([\w.]+)-\d[^/]*\.egg/", text)
    needed = canonicalize_name(egg[1] if egg else table("imports").get(module, module))
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


def explain_traceback(text: str) -> Explanation | None:
    """Return what is wrong with the environment where a program, whose output is ``text``, ended with a traceback.

    The last exception is looked at first, then those that led to it; not what else was printed: libraries warn of
    what nobody needs. None when it is something else: the program's own mistake.
    """
    parts = text.split(_TRACEBACK)
    chain = [parts[-1]]
    for part in reversed(parts[:-1]):
        if not part.rstrip().endswith(_LED_TO):
            break
        chain.insert(0, part)
    for count in dict.fromkeys((1, len(chain))):
        found = explain(Failure("import", "", _TRACEBACK.join(chain[-count:])), "environment")
        if found is not None:
            return found
    return None


def explain_command(text: str, *, in_image: bool, python: Path | None) -> str:
    """Return cause and advice where a command's output shows that its environment is to blame; else "".

    Args:
        in_image: the command ran in the task's image.
        python: the interpreter that the annotator named; None for the environment of the task, or none at all.
    """
    found = explain_traceback(text)
    # An unknown module may come from anywhere: the place decides, not the environment.
    if found is None or (found.name == "no-module" and not found.fix and "package index" not in found.advice):
        return ""
    repair = "or run in the task's image (--sandbox docker), or with another Python (--python)"
    if in_image:
        # `--fix` imports the masked file; a driver, or tests, may import more.
        also = " where the masked file cannot be imported without it" if found.name == "no-module" else ""
        repair = f"`lmr-author env build --fix` does that{also}" if found.fix else ""
    elif found.fix is not None and found.fix.kind == "system":
        repair = f"here by `apt-get install {' '.join(found.fix.names)}`"
    elif found.fix is not None and found.fix.kind == "requirements":
        command = [str(python), "-m", "pip", "install", *found.fix.names]
        if python is None:
            command = ["lmr-author", "env", "local", *(f"--with={name}" for name in found.fix.names)]
        repair = f"here by `{shlex.join(command)}`"
    return "; ".join(filter(None, [f"{found.cause}: {found.advice}", repair]))

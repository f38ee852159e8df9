"""What a command that failed said, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from lmr_author import compilers
from lmr_author.sandbox.base import ExecResult
from lmr_author.task import TORCH_FAMILY, UNIT_TEST

_EXCEPTION = re.compile(r"((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)(?::.*)?)$")
"""A line that names an exception."""
_OF_PYTEST = re.compile(r"E +")
_MISSING = re.compile(r"No module named '([\w.]+)'")
_MODULE = re.compile(r"(?:module|from) '([\w.]+)'")
_NLTK = re.compile(r"nltk\.download\(\W*([\w.-]+)\W*\)")

_MOST = 300

Explain = Callable[[str], str]
"""All that a command said → what is wrong with its environment, and what repairs it; "" for something else."""


def printed_error(result: ExecResult) -> str:
    """As :func:`last_error`; "" for a command that did not fail, or said nothing."""
    return last_error(result) if result.exit_code != 0 and _said(result) else ""


def died_of(result: ExecResult, exception: str) -> bool:
    """Whether a command failed with an exception of this class, which nobody caught."""
    named = printed_error(result).partition(":")[0].rpartition(".")[2]
    return bool(named) and named == exception.rpartition(".")[2]


def last_error(result: ExecResult) -> str:
    """The last exception that was printed, as tests report it too; else the last line."""
    lines = _said(result)
    found = [number for number, line in enumerate(lines) if _EXCEPTION.match(line)]
    if not found:
        return (lines or [f"exit code {result.exit_code}"])[-1][:_MOST]
    told = lines[found[-1]]
    # A message may begin on a line of its own, or end in the colon of a list.
    for line in lines[found[-1] + 1 :]:
        if not told.endswith(":"):
            break
        told += f" {line}"
    return told[:_MOST]


def advice(
    tree: Path,
    last: str,
    result: ExecResult,
    in_image: bool = False,
    unseen: Sequence[Path] = (),
    explain: Explain = lambda text: "",
) -> str:
    """What to do about a command that failed: where what it lacks would come from, else what it said.

    Args:
        tree: the repository that it ran in.
        last: its last error.
        in_image: whether it ran in the task's image.
        unseen: what the command names on this machine, and the sandbox does not show.
        explain: what is wrong with the environment, and what repairs it, by what was said; "" for something else.
    """
    missing = _MISSING.search(last)
    module = _MODULE.search(last)
    if missing is not None and (own := _own(tree, missing[1].partition(".")[0])):
        return _way_to(missing[1].partition(".")[0], own)
    if module is None or not _own(tree, module[1].partition(".")[0]):
        died = f"died of signal {-result.exit_code}" if result.exit_code < 0 else ""
        if told := explain(died or "\n".join(_said(result))):
            return told
    if missing is not None:
        return _not_installed(missing[1].partition(".")[0], in_image)
    data = _NLTK.search(" ".join(_said(result)))
    if data is not None:
        return (
            "NLTK's data is no package, and there is no network here: fetch it into the environment "
            f"(PYTHON -m nltk.downloader -d ENVIRONMENT/lib/nltk_data {data[1]}), and in the Dockerfile into "
            f"the image (RUN python -m nltk.downloader -d /usr/share/nltk_data {data[1]})"
        )
    if told := compilers.advice("\n".join(_said(result))):
        return f"{told}{_before(_said(result))}"
    if unseen:
        return (
            f"the command names {', '.join(map(str, unseen))}, and the sandbox shows the repository and the folder of "
            "a driver script only: put it into that folder, where the driver finds it by Path(__file__).parent"
            f"{_before(_said(result))}"
        )
    environment = (
        "the image (`lmr-author env build` says what it lacks)"
        if in_image
        else "its environment (`lmr-author env local` makes one, --python names one)"
    )
    return f"correct the driver, or {environment}{_before(_said(result))}"


def _own(tree: Path, name: str) -> list[Path]:
    """Where the repository has a module of this name, from its root, the nearest first."""
    paths = (path for path in tree.rglob("*") if path.name in (name, f"{name}.py") and not _is_part(path))
    own = [path.relative_to(tree) for path in paths]
    return sorted(
        (path for path in own if path.parts[0] != UNIT_TEST), key=lambda path: (len(path.parts), path)
    )


def _not_installed(name: str, in_image: bool) -> str:
    """How the command's environment gets a package of which nothing else is known."""
    if in_image:
        return (
            f"{name} is not installed in the image: add what brings it to requirements.lock, whose comments "
            "name what was left out and why, and build again: `lmr-author env build --fix`"
        )
    # An environment without Docker gets what the base image has when it is told the version.
    extra = f" --with {name}==VERSION" if name in TORCH_FAMILY else ""
    return (
        f"{name} is not installed where the command runs: make an environment with `lmr-author env local{extra}`, "
        "name a Python that has it (--python), or run in the task's image (--sandbox docker)"
    )


def _way_to(name: str, own: Sequence[Path]) -> str:
    """How the command finds a module of the repository."""
    place = own[0].parent.as_posix()
    if place == ".":
        return (
            f"{name} lies in the repository's root: run the command as the repository does, as in "
            "python -m PACKAGE.MODULE"
        )
    return (
        f"{name} lies in {place}/ of the repository, where Python does not look: begin the driver with "
        f'`import sys; sys.path.insert(0, "{place}")`, or run the command as the repository does'
    )


def _is_part(path: Path) -> bool:
    """Whether it is a package inside another (``fast/numba/``), which nobody imports by its own name alone."""
    return path.is_dir() and (path.parent / "__init__.py").is_file()


def _said(result: ExecResult) -> list[str]:
    """The lines that the command printed; pytest reports its errors on standard output."""
    told = result.stderr if result.stderr.strip() else result.stdout
    lines = told.decode("utf-8", "replace").splitlines()
    return [_OF_PYTEST.sub("", line.strip(), 1) for line in lines if line.strip(" ^~=_*")]


def _before(lines: Sequence[str]) -> str:
    """The last lines above the last one, for an error that says little by itself."""
    told = " | ".join(line for line in lines[-5:-1] if not line.startswith("Traceback"))[:500]
    return f"; before that it said: {told}" if told else ""

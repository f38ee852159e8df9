"""Recordings that failed: by the errors of the command, or as no call reproduces; and how to repair them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lmr_author.authoring.recording.calls import RecordedCall
from lmr_author.authoring.recording.checkers import fixture_advice
from lmr_author.authoring.recording.drivers import DRIVER
from lmr_author.authoring.recording.replay import Rejected
from lmr_author.core.errors import LmrError
from lmr_author.core.task import TORCH_FAMILY, UNIT_TEST
from lmr_author.runtime.probe.document import walk
from lmr_author.runtime.probe.outcome import as_written
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.sandbox.base import ExecResult

_EXCEPTION = re.compile(r"((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)(?::.*)?)$")
"""A line that names an exception."""
_OF_PYTEST = re.compile(r"E +")
_MISSING = re.compile(r"No module named '([\w.]+)'")
_MODULE = re.compile(r"(?:module|from) '([\w.]+)'")
_MOST = 300

Explain = Callable[[str], str]
"""Output of a command → the fault of its environment, with the repair; "" for another error."""


def last_error(result: ExecResult) -> str:
    """Return the last exception that was printed, as tests report it too; else the last line."""
    lines = _printed(result)
    exceptions = [number for number, line in enumerate(lines) if _EXCEPTION.match(line)]
    if not exceptions:
        return (lines or [f"exit code {result.exit_code}"])[-1][:_MOST]
    text = lines[exceptions[-1]]
    # A message may begin on a line of its own, or end in the colon of a list.
    for line in lines[exceptions[-1] + 1 :]:
        if not text.endswith(":"):
            break
        text += f" {line}"
    return text[:_MOST]


def advice(
    tree: Path,
    result: ExecResult,
    in_image: bool = False,
    unseen: Sequence[Path] = (),
    explain: Explain = lambda text: "",
) -> str:
    """Return how to repair a command that failed: the source of what it lacks, else the output before its error.

    Args:
        tree: the repository that it ran in.
        in_image: it ran in the task's image.
        unseen: paths of this machine that the command names and the sandbox does not show.
    """
    lines = _printed(result)
    last = last_error(result)
    missing, module = _MISSING.search(last), _MODULE.search(last)
    package = missing[1].partition(".")[0] if missing else ""
    if package and (own := _modules_of(tree, package)):
        return _import_advice(package, own[0].parent.as_posix())
    # A fault inside a module of the repository is no fault of the environment.
    of_repository = module is not None and _modules_of(tree, module[1].partition(".")[0])
    if not of_repository:
        died = f"died of signal {-result.exit_code}" if result.exit_code < 0 else ""
        if explained := explain(died or "\n".join(lines)):
            return explained
    if package:
        return _install_advice(package, in_image)
    shown = " | ".join(line for line in lines[-5:-1] if not line.startswith("Traceback"))[:500]
    before = f"; before that it said: {shown}" if shown else ""
    if unseen:
        return (
            f"the command names {', '.join(map(str, unseen))}, and the sandbox shows the repository and the folder of "
            "a driver script outside it only: put the script and its data into a folder of their own, where it finds "
            f"them by Path(__file__).parent{before}"
        )
    if in_image:
        return f"correct the driver, or the image (`lmr-author env build` says what it lacks){before}"
    return (
        "correct the driver, or its environment (`lmr-author env local` makes one, --python names one)"
        f"{before}"
    )


def _modules_of(tree: Path, name: str) -> list[Path]:
    """Return the repository's modules of this name, the nearest to its root first."""
    modules = []
    for path in tree.rglob("*"):
        # A package inside another (fast/numba/) is not imported by its own name alone.
        inner = path.is_dir() and (path.parent / "__init__.py").is_file()
        relative = path.relative_to(tree)
        if path.name in (name, f"{name}.py") and not inner and relative.parts[0] != UNIT_TEST:
            modules.append(relative)
    return sorted(modules, key=lambda path: (len(path.parts), path))


def _import_advice(name: str, folder: str) -> str:
    if folder == ".":
        return (
            f"{name} lies in the repository's root: run the command as the repository does, as in "
            "python -m PACKAGE.MODULE"
        )
    return (
        f"{name} lies in {folder}/ of the repository, where Python does not look: begin the driver with "
        f'`import sys; sys.path.insert(0, "{folder}")`, or run the command as the repository does'
    )


def _install_advice(name: str, in_image: bool) -> str:
    if in_image:
        return (
            f"{name} is not installed in the image: `lmr-author env lock --with NAME` adds what brings it to "
            "requirements.lock, whose comments name what was left out and why; then build again: "
            "`lmr-author env build`"
        )
    # An environment without Docker gets what the base image has when it is told the version.
    extra = f" --with {name}==VERSION" if name in TORCH_FAMILY else ""
    return (
        f"{name} is not installed where the command runs: make an environment with `lmr-author env local{extra}`, "
        "name a Python that has it (--python), or run in the task's image (--sandbox docker)"
    )


def _printed(result: ExecResult) -> list[str]:
    """Return the lines that the command printed; pytest reports its errors on standard output."""
    text = result.stderr if result.stderr.strip() else result.stdout
    lines = text.decode("utf-8", "replace").splitlines()
    return [_OF_PYTEST.sub("", line.strip(), count=1) for line in lines if line.strip(" ^~=_*")]


# no call reproduces


def irreproducible(qualname: str, rejected: Sequence[Rejected]) -> LmrError:
    """Return the error of a target of which no recorded call reproduces, with the reasons and what to do."""
    reasons = "; ".join(dict.fromkeys(call.reason for call in rejected))[:400]
    if all(call.not_imported for call in rejected):
        return LmrError(
            f"{qualname} was called, but no test can do that: {reasons}",
            "a test imports the file, with neither the command's arguments nor its data: choose a function of a "
            "file that does not run a program when it is imported",
        )
    parts = {}
    for lost in rejected:
        for part in lost.call.omitted:
            parts[as_written(str(part["path"]))] = str(part["type"])
    return LmrError(f"no recorded call of {qualname} reproduces: {reasons}", _input_advice(parts, rejected))


def _input_advice(parts: Mapping[str, str], rejected: Sequence[Rejected]) -> str:
    """Return what to do about the inputs. ``parts``: those that could not be stored, and their classes."""
    if advised := fixture_advice(parts):
        named = ", ".join(f"{path} ({kind})" for path, kind in list(parts.items())[:3])
        return f"of its inputs, {named} could not be stored; {advised}"
    if any(_names_folder_of_driver(lost.call) for lost in rejected):
        return (
            "it is given the path of a file beside the driver, and a test sees the repository alone: give it a file of "
            "the repository, by a path relative to it"
        )
    return (
        "the function depends on what is no argument (a global, a file, the time); drive it with "
        "that passed in, or choose a function whose result its inputs determine"
    )


def _names_folder_of_driver(call: RecordedCall) -> bool:
    tree = replaying.load_document(call.folder, "inputs").tree
    return any(isinstance(node, str) and node.startswith(f"{DRIVER}/") for _, node in walk(tree))

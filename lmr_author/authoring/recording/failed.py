"""A command that failed: the last error that it printed, and how to repair it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from lmr_author.core.errors import Hint, Setting
from lmr_author.core.task import TORCH_FAMILY, UNIT_TEST
from lmr_author.runtime.environment.packages import distribution
from lmr_author.runtime.sandbox.base import ExecResult

Explain = Callable[[str], Hint]
"""Output of a command → the fault of its environment, with the repair; an empty hint for another error."""
NO_FAULT = Hint("")
COMMAND = Setting("--")

_EXCEPTION = re.compile(r"((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)(?::.*)?)$")
"""A line that names an exception."""
_OF_PYTEST = re.compile(r"E +")
_MODULE = re.compile(r"(No module named|module|from) '(\w+)")
_MOST = 300


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


def advice_about(
    tree: Path, result: ExecResult, in_image: bool = False, explain: Explain = lambda text: NO_FAULT
) -> Hint:
    """Return how to repair a failed command: how to get what it lacks, else the output before its error."""
    lines = _printed(result)
    named = _MODULE.search(last_error(result))
    words, module = named.groups() if named else ("", "")
    is_missing = words == "No module named"
    folder = _folder_of(tree, module) if module else None
    # A fault inside a module of the repository is no fault of the environment.
    if folder is not None:
        return _path_advice(module, folder) if is_missing else _driver_advice(lines, in_image)
    died = f"died of signal {-result.exit_code}" if result.exit_code < 0 else ""
    explained = explain(died or "\n".join(lines))
    if explained.text:
        return explained
    return _install_advice(module, in_image) if is_missing else _driver_advice(lines, in_image)


def _folder_of(tree: Path, name: str) -> str | None:
    folders = []
    for path in [*tree.rglob(name), *tree.rglob(f"{name}.py")]:
        # A package inside another (fast/numba/) is not imported by its own name alone.
        inner = path.is_dir() and (path.parent / "__init__.py").is_file()
        folder = path.parent.relative_to(tree)
        # A folder of tests is called as what it tests: tests/ops/triton/ is no triton.
        if {"test", "tests"}.intersection(folder.parts) and (path.is_dir() or distribution(name)):
            continue
        if not inner and folder.parts[:1] != (UNIT_TEST,):
            folders.append(folder)
    return min(folders, key=lambda folder: (len(folder.parts), folder)).as_posix() if folders else None


def _path_advice(module: str, folder: str) -> Hint:
    return Hint(
        f"{module} lies in the folder {folder} of the repository, where Python does not look: run the command as "
        f'the repository does, or begin the driver with `import sys; sys.path.insert(0, "{folder}")`',
        (COMMAND,),
    )


def _install_advice(module: str, in_image: bool) -> Hint:
    option = "--with"
    if module in TORCH_FAMILY:  # it comes with the base image
        option = "--base-image" if in_image else "env local --with"
    if in_image:
        typed = (
            "`lmr-author env lock --with NAME` adds what brings it to requirements.lock, whose comments name what was "
            "left out and why; then build again: `lmr-author env build`"
        )
    else:
        typed = (
            "make an environment with `lmr-author env local`, name a Python that has it (--python), or run in the "
            "task's image (--sandbox docker)"
        )
    place = "in the image" if in_image else "where the command runs"
    return Hint(f"{module} is not installed {place}: {{0}}", (Setting(option, (), typed),))


def _driver_advice(lines: list[str], in_image: bool) -> Hint:
    shown = " | ".join(line for line in lines[-5:-1] if not line.startswith("Traceback"))[:500]
    before = f"; before that it said: {shown}" if shown else ""
    environment = "its environment (`lmr-author env local` makes one, --python names one)"
    if in_image:
        environment = "the image (`lmr-author env build` says what it lacks)"
    return Hint(
        "correct the driver, or {1}; the sandbox shows the repository, and the folder of a driver outside "
        f"it, which finds its data by Path(__file__).parent{before}",
        (COMMAND, Setting("--with", (), environment)),
    )


def _printed(result: ExecResult) -> list[str]:
    """Return the lines that the command printed; pytest reports its errors on standard output."""
    text = result.stderr if result.stderr.strip() else result.stdout
    lines = text.decode("utf-8", "replace").splitlines()
    return [_OF_PYTEST.sub("", line.strip(), count=1) for line in lines if line.strip(" ^~=_*")]

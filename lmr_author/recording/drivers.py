"""What drives the target when the annotator has no command: the repository's tests, or calls written out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmr_author.errors import UsageError
from lmr_author.probe.document import Document, dump
from lmr_author.recording.command import DRIVER, Driver
from lmr_author.recording.drive import Drive
from lmr_author.sandbox.base import Mount
from lmr_author.task import UNIT_TEST, Implementation

LEFT_OUT = frozenset({UNIT_TEST, ".git", "node_modules", "site-packages", "build"})
MOST_BYTES = 2_000_000
"""Larger files are no tests written by hand."""
MODULE = "lmr_probe.drivers"
REQUEST = "request.json"
"""What a module of the probe is to call, in the folder that it is given."""


def from_tests(implementation: Implementation, repository: Path, options: Sequence[str]) -> Driver:
    """The repository's own tests: those that name the target, else those that name its file, else all.

    Args:
        options: more words for pytest; with a test file among them, only these are run.

    Raises:
        UsageError: the repository has no tests.
    """
    named = [word for word in options if word.partition("::")[0].endswith(".py")]
    chosen = (
        []
        if named
        else [path.relative_to(repository).as_posix() for path in _tests(implementation, repository)]
    )
    words = (*chosen, *options)
    return Driver(("-m", MODULE, "suite", *words), (), ("lmr-author", "record", "--from-tests", "--", *words))


def _tests(implementation: Implementation, repository: Path) -> list[Path]:
    found = [path for path in sorted(repository.rglob("*.py")) if _is_test(path, repository)]
    if not found:
        raise UsageError(
            f"{repository.name}/ has no tests (test_*.py, *_test.py)",
            'drive the function yourself: -- python driver.py, or --from-example "f(…)"',
        )
    texts = {path: path.read_text("utf-8", "replace") for path in found}
    qualname = implementation.qualname.split(".")
    special = qualname[-1].startswith("__") or qualname[-1] in ("forward", "step")
    for name in (qualname[0] if special else qualname[-1], qualname[0], Path(implementation.goal_file).stem):
        naming = [path for path in found if name in texts[path]]
        if naming:
            return naming
    return found


def _is_test(path: Path, repository: Path) -> bool:
    inside = path.relative_to(repository)
    named = path.name.startswith("test_") or path.name.endswith("_test.py")
    if not named or LEFT_OUT & set(inside.parts) or path.is_symlink():
        return False
    return path.is_file() and path.stat().st_size < MOST_BYTES


def from_examples(
    implementation: Implementation, examples: Sequence[str], work: Path, fixtures: Path | None = None
) -> Driver:
    """Calls written by the annotator. They are read here, and run inside the sandbox only.

    Args:
        examples: Python text, as in ``preference_loss(torch.randn(4), torch.randn(4), beta=0.1)``.
        work: a folder of ours, for the request.
        fixtures: ``unit_test/fixtures.py``, whose functions an example may call.

    Raises:
        UsageError: an example is no Python.
    """
    for text in examples:
        try:
            compile(text.strip(), "example", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise UsageError(
                f"this example is no Python: {text!r} ({error})",
                "write a call, as in f(torch.randn(4), beta=0.1)",
            ) from error
    folder = work / "examples"
    folder.mkdir()
    request: dict[str, Any] = {"goal_file": implementation.goal_file, "examples": list(examples)}
    if fixtures is not None:
        shutil.copyfile(fixtures, folder / fixtures.name)
        request["fixtures"] = fixtures.name
    shown = [word for text in examples for word in ("--from-example", text)]
    return _driver("examples", folder, request, shown)


def from_inputs(
    inputs: Sequence[Document], shown: Sequence[str], plan: Drive, work: Path, found: Mapping[str, Any]
) -> Driver:
    """Calls from inputs that were made here, not recorded.

    Args:
        shown: how they were made, as the command line says it.
        plan: the target.
        work: a folder of ours, for the inputs.
        found: the summary of a recorded run, for the module's name; {} when there was none.
    """
    folder = work / "made"
    folder.mkdir()
    names = [f"{number:04d}" for number in range(1, len(inputs) + 1)]
    for name, document in zip(names, inputs, strict=True):
        (folder / name).mkdir()
        dump(document, str(folder / name), "inputs")
    request = {
        "goal_file": plan.goal_file,
        "qualname": plan.qualname,
        "nth": plan.nth,
        "module": found.get("module"),
        "sys_path": found.get("sys_path"),
        "cases": names,
    }
    if plan.helpers.fixtures is not None:
        shutil.copyfile(plan.helpers.fixtures, folder / plan.helpers.fixtures.name)
        request["fixtures"] = plan.helpers.fixtures.name
    return _driver("calls", folder, request, shown)


def _driver(part: str, folder: Path, request: Mapping[str, Any], shown: Sequence[str]) -> Driver:
    """A part of the probe's drivers that carries out a request; every user may read what lies in the request's folder.

    Args:
        folder: a folder of ours, with the files that the request names.
        shown: how the request came about, as the command line says it.
    """
    (folder / REQUEST).write_text(json.dumps(request), "utf-8")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return Driver(
        ("-m", MODULE, part, f"{DRIVER}/{REQUEST}"),
        (Mount(folder, DRIVER),),
        ("lmr-author", "record", *shown),
    )

"""Case folders: what a block becomes, or why it is refused. Drop a folder in and it is a test.

``before.py`` and ``command`` (``START-END NAME [--as KIND]``) with ``after.py``, and ``remarks`` where there
are any; or with ``error``: the message, then the hint.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.authoring.extracting.extract import As, Extraction, extract
from lmr_author.core import code
from lmr_author.core.errors import LmrError
from tests.extracting.running import assert_same, run_all

CASES = Path(__file__).parent / "cases"


def run(folder: Path) -> Extraction:
    """The extraction that a case asks for."""
    lines, name, *rest = (folder / "command").read_text().split()
    start, _, end = lines.partition("-")
    kind = As(rest[1]) if rest else None
    module = code.Module.parse((folder / "before.py").read_bytes(), "before.py")
    return extract(module, int(start), int(end), name, kind=kind)


def folders(expected: str) -> list[Path]:
    """The cases that have a file of some name."""
    return sorted(path.parent for path in CASES.glob(f"*/{expected}"))


def test_every_case_expects_something() -> None:
    assert sorted(CASES.iterdir()) == sorted([*folders("after.py"), *folders("error")])


@pytest.mark.parametrize("folder", folders("after.py"), ids=lambda path: path.name)
def test_extracted(folder: Path) -> None:
    """The file becomes ``after.py``, and both do the same when they are run."""
    done = run(folder)
    assert done.data == (folder / "after.py").read_bytes()
    remarks = folder / "remarks"
    assert list(done.remarks) == (remarks.read_text().splitlines() if remarks.exists() else [])
    before, after = run_all([(folder / "before.py").read_text(), done.data.decode()])
    assert_same(before, after, done.qualname, done.local)


@pytest.mark.parametrize("folder", folders("error"), ids=lambda path: path.name)
def test_refused(folder: Path) -> None:
    with pytest.raises(LmrError) as caught:
        run(folder)
    assert f"{caught.value.message}\n{caught.value.hint}\n" == (folder / "error").read_text()

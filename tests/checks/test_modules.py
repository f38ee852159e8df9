"""The modules of the checks: each says which checks it holds, or is named in the package's own words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lmr_author import checks

FOLDER = Path(checks.__file__).parent
MODULES = sorted(path for path in FOLDER.glob("*.py") if path.stem != "__init__")


def _told(text: str) -> set[int]:
    """The numbers at the beginning of a module's docstring: ``LMR303, 307–310: …``."""
    head = text.partition(":")[0]
    found: set[int] = set()
    for first, last in re.findall(r"(?:LMR)?(\d{3})(?:–(\d{3}))?", head):
        found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_says_which_checks_it_holds(path: Path) -> None:
    source = path.read_text("utf-8")
    held = {int(number) for number in re.findall(r'^    code = "LMR(\d{3})"', source, re.MULTILINE)}
    assert _told(ast.get_docstring(ast.parse(source)) or "") == held
    assert held or f"``{path.stem}``" in str(checks.__doc__)

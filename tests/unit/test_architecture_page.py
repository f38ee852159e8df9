"""docs/architecture.md names every part of the package, and docs/gates.md every gate, in their order."""

from __future__ import annotations

import re
from pathlib import Path

from lmr_author.proof.evaluation.evaluate import GATES

ROOT = Path(__file__).parents[2]


def test_every_package_and_module_is_named() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    package = ROOT / "lmr_author"
    packages = [str(path.parent.relative_to(package)) for path in package.glob("*/*/__init__.py")]
    assert not [name for name in [*packages, "cli"] if f"| `{name}/`" not in page]
    wings = [path.parent.name for path in package.glob("*/__init__.py")]
    assert not [name for name in wings if f"│ {name} " not in page]
    modules = [path.name for path in (package / "core").glob("*.py") if path.stem != "__init__"]
    assert not [name for name in modules if f"`{name}`" not in page]


def test_the_files_to_open_first_are_there() -> None:
    page = (ROOT / "docs" / "find-your-way.md").read_text("utf-8")
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.(?:py|toml))`", page)
    assert len(named) > 15
    assert not [name for name in named if not (ROOT / "lmr_author" / name).is_file()]


def test_the_readme_has_every_gate_in_order() -> None:
    table = (
        (ROOT / "docs" / "gates.md")
        .read_text("utf-8")
        .partition("## What the gates prove")[2]
        .partition("\n## ")[0]
    )
    assert re.findall(r"^\| ([a-z-]+) \|", table, re.MULTILINE) == [
        "gate",
        "build",
        *GATES,
    ]

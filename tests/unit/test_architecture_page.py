"""docs/architecture.md names every part of the package: who looks for one finds what it does."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_package_and_module_is_named() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    package = ROOT / "lmr_author"
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    modules = {path.stem for path in package.glob("*.py") if not path.stem.startswith("__")}
    assert not [name for name in sorted(folders | modules) if name not in page]
    described = folders - {"cli", "workflow"}
    assert not [name for name in sorted(described) if f"| `{name}/`" not in page]

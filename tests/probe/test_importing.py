"""Ways to import a file of the repository, and the failure that is reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from lmr_author import resources

PROBE = resources.probe_folder()


def imported(tree: Path, file: str) -> dict[str, object]:
    """Return the probe's report of importing a file, in a process of its own."""
    code = (
        f"import sys; sys.path.insert(0, {str(PROBE.parent)!r}); from {PROBE.name}.drivers import try_import"
    )
    code += f"; try_import({str(tree)!r}, {file!r}, 60)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    report: dict[str, object] = json.loads(done.stdout)
    return report


def package(tree: Path, **files: str) -> None:
    (tree / "pkg" / "logging").mkdir(parents=True)
    (tree / "pkg" / "__init__.py").touch()
    (tree / "pkg" / "logging" / "__init__.py").touch()
    for name, text in files.items():
        (tree / "pkg" / f"{name}.py").write_text(text)


def test_a_package_beside_the_file_does_not_hide_pythons_own(tmp_path: Path) -> None:
    package(tmp_path, search="import logging\nlogger = logging.getLogger(__name__)\n")
    assert imported(tmp_path, "pkg/search.py")["ok"]


def test_a_module_beside_the_file_is_found_as_a_script_finds_it(tmp_path: Path) -> None:
    package(tmp_path, train="import layers\n", layers="")
    assert imported(tmp_path, "pkg/train.py")["ok"]


def test_the_likeliest_way_says_what_is_wrong(tmp_path: Path) -> None:
    package(tmp_path, search="import logging\nlogging.getLogger()\nraise ValueError('too old')\n")
    assert "ValueError: too old" in str(imported(tmp_path, "pkg/search.py")["error"])

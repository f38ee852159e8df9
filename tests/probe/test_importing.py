"""Ways to import a file of the repository, and the failure that is reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.core import resources
from tests.support import write_files

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


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        pytest.param("search", "import logging\nlogger = logging.getLogger(__name__)\n", "", id="hides"),
        pytest.param("train", "import layers\n", "", id="a module beside it, as a script finds it"),
        pytest.param(
            "old", "import logging\nlogging.getLogger()\nraise ValueError('too old')\n", "too old", id="fails"
        ),
    ],
)
def test_the_likeliest_way_that_works(tmp_path: Path, file: str, text: str, error: str) -> None:
    package = {"pkg/__init__.py": "", "pkg/logging/__init__.py": "", "pkg/layers.py": ""}
    write_files(tmp_path, {**package, f"pkg/{file}.py": text})
    report = imported(tmp_path, f"pkg/{file}.py")
    assert report["ok"] is not bool(error) and error in str(report["error"])

"""The errors of commands that failed before they called the target, and the advice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lmr_author.authoring.recording.job import advice_about, last_error
from lmr_author.core.errors import Hint
from lmr_author.runtime.sandbox.base import ExecResult
from tests.support import write_files

NLTK = """\
Traceback (most recent call last):
  File "driver.py", line 1, in <module>
LookupError:\x20
**********************************************************************
  Resource 'stopwords' not found.
  Please use the NLTK Downloader to obtain the resource:

  >>> import nltk
  >>> nltk.download('stopwords')

  Searched in:
    - '/usr/share/nltk_data'
**********************************************************************
"""
STATE = """\
RuntimeError: Error(s) in loading state_dict for Net:
\tMissing key(s) in state_dict: "a".
"""
PYTEST = """\
E       RuntimeError: no data

FAILED test_a.py::test_a - RuntimeError: no data
"""


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (NLTK, "LookupError: Resource 'stopwords' not found."),
        (STATE, 'RuntimeError: Error(s) in loading state_dict for Net: Missing key(s) in state_dict: "a".'),
        (PYTEST, "RuntimeError: no data"),
        ("ValueError: first\n\nDuring handling:\n\nValueError: last\nbye\n", "ValueError: last"),
        ("Killed\n", "Killed"),
        ("", "exit code 1"),
    ],
)
def test_the_last_error_is_told_with_what_it_says(said: str, error: str) -> None:
    assert last_error(result(said)) == error


MINE = "ModuleNotFoundError: No module named 'mine'"
LIBRARY = "ImportError: libGL.so.1: cannot open shared object file"
ASSERT = "Traceback (most recent call last):\nassert os.path.exists(path)\nAssertionError\n"
ADVICE: list[tuple[str, list[str], dict[str, Any], str]] = [
    (MINE, ["src/mine/net.py", "examples/src/mine/net.py", "unit_test/mine.py"], {}, 'sys.path.insert(0, "src")'),
    (MINE, ["mine/net.py", "tools/mine.py"], {}, "in the folder . of the repository, which is not on Python's path"),
    (MINE, ["unit_test/mine.py"], {}, "mine is not installed in the command's environment: make an environment"),
    (MINE, ["fast/__init__.py", "fast/mine/__init__.py"], {}, "mine is not installed"),
    (MINE, ["tests/ops/mine/test_a.py"], {}, "mine is not installed"),
    (MINE, [], {"in_image": True}, "mine is not installed in the image: `lmr-author env lock --with"),
    (MINE, [], {"explain": lambda text: Hint(f"why: {text}")}, f"why: {MINE}"),
    (MINE, ["mine.py"], {"explain": "wrong".format}, "run the command as the repository does"),
    ("AttributeError: module 'mine' has no x", ["mine.py"], {"explain": "wrong".format}, "correct the driver"),
    (LIBRARY, [], {"explain": lambda text: Hint(f"why: {text}")}, f"why: {LIBRARY}"),
    (LIBRARY, [], {"in_image": True}, "or the image (`lmr-author env build` lists what is missing)"),
    ("OSError: no data", [], {}, "or its environment (`lmr-author env local` makes one"),
    ("Traceback\nno weights in data/\nOSError: gone\n", [], {}, "its output before that: no weights in data/"),
    (ASSERT, [], {}, "the driver's folder (Path(__file__).parent)"),
    (ASSERT, [], {}, "its output before that: assert os.path.exists(path)"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "files", "options", "advice"), ADVICE)
def test_advice_about_a_command_that_failed(
    said: str, files: list[str], options: dict[str, Any], advice: str, tmp_path: Path
) -> None:
    write_files(tmp_path, dict.fromkeys(files, ""))
    assert advice in str(advice_about(tmp_path, result(said), **options))


def test_a_command_that_died_is_explained_by_its_signal(tmp_path: Path) -> None:
    died = ExecResult(-11, b"", b"", 0.1)
    assert advice_about(tmp_path, died, explain=Hint).text == "died of signal 11"


def result(stderr: str) -> ExecResult:
    """A command that failed."""
    return ExecResult(1, b"", stderr.encode(), 0.1)

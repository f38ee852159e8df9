"""The errors of commands that failed before they called the target, and the advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.recording import failed
from lmr_author.sandbox.base import ExecResult

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
    assert failed.last_error(result(said)) == error


@pytest.mark.parametrize(
    ("files", "advice"),
    [
        (["src/mine/net.py", "examples/src/mine/net.py", "unit_test/mine.py"], 'sys.path.insert(0, "src")'),
        (["mine/net.py", "tools/mine.py"], "the repository's root: run the command as"),
        (["unit_test/mine.py"], "mine is not installed"),
        (["fast/__init__.py", "fast/mine/__init__.py"], "mine is not installed"),
    ],
)
def test_a_module_of_the_repository_is_shown_the_way_to(
    tmp_path: Path, files: list[str], advice: str
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    error = "ModuleNotFoundError: No module named 'mine'"

    assert advice in failed.advice(tmp_path, error, result(error))


def test_what_the_image_lacks_is_not_looked_for_elsewhere(tmp_path: Path) -> None:
    error = "ModuleNotFoundError: No module named 'mine'"
    advice = failed.advice(tmp_path, error, result(error), in_image=True)
    assert "requirements.lock" in advice and "--sandbox docker" not in advice
    said = "ImportError: libcudart.so.12: cannot open shared object file\n"
    advice = failed.advice(tmp_path, said, result(said), in_image=True)
    assert "`lmr-author env build`" in advice and "--python" not in advice


def test_what_is_wrong_with_the_environment_comes_first(tmp_path: Path) -> None:
    for error in ("ModuleNotFoundError: No module named 'cv2'", "ImportError: libGL.so.1: cannot open"):
        told = failed.advice(tmp_path, error, result(error), explain=lambda text: f"why: {text}")
        assert told == f"why: {error}"
    died = ExecResult(-11, b"", b"", 0.1)
    assert "died of signal 11" in failed.advice(tmp_path, "exit code -11", died, explain=lambda text: text)


@pytest.mark.parametrize(
    "error",
    ["ModuleNotFoundError: No module named 'mine'", "AttributeError: module 'mine' has no attribute 'f'"],
)
def test_the_repositorys_own_modules_are_no_packages(tmp_path: Path, error: str) -> None:
    (tmp_path / "mine.py").write_text("")
    assert failed.advice(tmp_path, error, result(error), explain=lambda text: "wrong") != "wrong"


def test_data_of_nltk_is_fetched_where_the_sandbox_finds_it(tmp_path: Path) -> None:
    told = failed.advice(tmp_path, failed.last_error(result(NLTK)), result(NLTK))

    assert "nltk.downloader -d ENVIRONMENT/lib/nltk_data stopwords" in told
    assert "RUN python -m nltk.downloader -d /usr/share/nltk_data stopwords" in told


def test_another_error_comes_with_what_was_said_before(tmp_path: Path) -> None:
    said = "Traceback (most recent call last):\nno weights in data/\nOSError: gone\n"

    told = failed.advice(tmp_path, "OSError: gone", result(said))
    assert told.endswith("it said: no weights in data/") and "`lmr-author env local` makes one" in told


def test_data_that_the_sandbox_does_not_show_is_named(tmp_path: Path) -> None:
    """A program that checks for its data often says no more than `AssertionError`."""
    said = "Traceback (most recent call last):\nassert os.path.exists(path)\nAssertionError\n"

    told = failed.advice(tmp_path, "AssertionError", result(said), unseen=[Path("/data/penn")])

    assert "names /data/penn, and the sandbox shows the repository and the folder of a driver" in told
    assert told.endswith("it said: assert os.path.exists(path)")


def result(stderr: str) -> ExecResult:
    """A command that failed."""
    return ExecResult(1, b"", stderr.encode(), 0.1)

"""The calls of an interrupted run serve the same run again, and no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lmr_author.authoring.recording.drivers import read_command
from lmr_author.authoring.recording.run import Run, begin, calls_left, forget
from tests.support import write_files

COMMAND = ("python", "driver.py", "--fast")
FILES = {"repo/a.py": "", "here/driver.py": "f()", "here/data.json": "[]", "here/notes.txt": ""}
FILES["repo/unit_test/fixtures.py"] = ""


@pytest.mark.parametrize(
    ("written", "words", "changed", "same"),
    [
        ("repo/a.py", (), {}, False),
        ("here/driver.py", (), {}, False),
        ("here/data.json", (), {}, False),
        ("here/notes.txt", (), {}, True),
        ("", ("more",), {}, False),
        ("", (), {"qualname": "g"}, False),
        ("", (), {"nth": 2}, False),
        ("", (), {"gradients": True}, False),
        ("", (), {"max_bytes": 2000}, False),
        ("repo/unit_test/fixtures.py", (), {}, False),
        ("", (), {"seconds": 5.0, "line": 7, "work": Path("elsewhere")}, True),
    ],
)
def test_the_calls_of_a_run_serve_no_other(
    written: str, words: tuple[str, ...], changed: dict[str, Any], same: bool, tmp_path: Path
) -> None:
    """Another golden, script, data beside it, words, function or option is another run; more time is not."""
    write_files(tmp_path, FILES)
    command = read_command(COMMAND, tmp_path / "repo", tmp_path / "here")
    plan = Run(tmp_path / "repo", "/workspace/repo", "a.py", "f", 1, 0, command, tmp_path, 60.0, 1000)
    place = tmp_path / "authoring" / "runs" / "1"
    out = begin(place, plan, ["f", "--", *COMMAND])
    assert calls_left(place, plan) is None, "no call is complete yet"
    write_files(out, {"calls/000001/meta.json": "{}"})
    if written:
        (tmp_path / written).write_text("[1]")
    driver = read_command((*COMMAND, *words), tmp_path / "repo", tmp_path / "here")
    assert calls_left(place, replace(plan, driver=driver, **changed)) == (out if same else None)
    forget(place)
    assert not (tmp_path / "authoring").exists()

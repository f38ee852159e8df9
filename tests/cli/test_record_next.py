"""The next command that `record` prints runs where the recording ran."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lmr_author.cli import app
from lmr_author.cli.options import SandboxKind, Where
from lmr_author.masking import MaskOptions, mask
from tests.support import make_task


def test_options_that_say_where_code_runs() -> None:
    assert Where(SandboxKind.local, None).words == []
    assert Where(SandboxKind.local, Path("/my env/python")).words == ["--python", "/my env/python"]
    assert Where(SandboxKind.docker, None, "base:1").words == [
        "--sandbox", "docker", "--base-image", "base:1",
    ]  # fmt: skip


@pytest.mark.bwrap
def test_the_next_command_names_the_interpreter_that_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = make_task(tmp_path)
    mask(task, MaskOptions(("pkg/losses.py::hinge",)), task.root)
    words = ["record", "--task", str(task.root), "--python", sys.executable, "--", "python", "run.py"]

    assert app.run(words) == 0

    said = capsys.readouterr().err
    evaluate = f"lmr-author evaluate --python {sys.executable} {task.root}"
    assert f"next: lmr-author validate {task.root} && {evaluate}\n" in said

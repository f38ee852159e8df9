"""Every verb ends with a next command that parses, or with what to open."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from lmr_author.cli.app import command, main
from lmr_author.core.task import Task
from tests.cli.program import ROOT

TARGET = "prefopt/losses.py::rating_margin_loss"
VERBS = [
    ("validate",),
    ("validate", "--select", "LMR2"),
    ("explain", "LMR001"),
    ("suggest",),
    ("set", "instruction=Implement the function as section 3 says."),
    ("set",),
    ("set", "year=2025"),
    ("status",),
    ("review", "--agreement"),
    ("unmask", TARGET),
    ("vet", "--offline", "--no-input"),
    ("export", ".", "--to", "agent", "--out", "../../out", "--force", "--unreviewed"),
    ("export", ".", "--to", "harbor", "--out", "../../out", "--force", "--unreviewed"),
    ("record", "--draft-driver", "d.py"),
]


@pytest.mark.parametrize("words", VERBS, ids=lambda words: "-".join(words[:2]).replace("/", "_")[:30])
def test_a_verb_names_the_next_command(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    task = Task(shutil.copytree(ROOT / "tasks" / "1-rating-margin", tmp_path / "tasks" / "1-rating-margin"))
    monkeypatch.chdir(task.root)
    main(list(words))
    shown = capsys.readouterr()
    text = shown.out + shown.err
    assert "\u00a0" not in text  # what is piped has plain spaces
    following = [line.strip().removeprefix("next: ") for line in text.splitlines() if "next: " in line]
    assert following, text
    for line in following:
        first, *rest = shlex.split(line)
        assert first in ("lmr-author", "harbor"), line
        if first == "lmr-author":
            assert command(rest[0]) is not None

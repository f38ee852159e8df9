"""The demo, and the commands that it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lmr_author.cli.app import main
from tests.cli.conftest import GATES, Demo
from tests.cli.program import lmr, snapshot


@pytest.mark.bwrap
def test_demo_shows_every_gate(demo: Demo) -> None:
    assert demo.ended.code == 0, demo.ended.err
    gates = demo.ended.out.partition("\n1-margin-focal-contrast\n")[2]
    shown = re.findall(r"^  (\S) (\S+) ", gates.partition("sound:")[0], re.MULTILINE)
    assert shown == [("✓", gate) for gate in GATES]
    assert "sound: every gate holds (8 of 8 gates, local sandbox" in gates
    verbs = [words[1] for words in demo.commands if words[0] == "lmr-author"]
    assert verbs == ["new-task", "mask", "record", "validate", "evaluate", "status"]
    assert "\nNo problems found in 1 task\n" in demo.ended.out


@pytest.mark.bwrap
def test_words_are_explained_before_they_are_met(demo: Demo) -> None:
    said = demo.ended.err
    assert said.index("# A mutant is") < said.index("$ lmr-author record") < said.index(" mutants killed")
    assert said.index("# A gate is") < said.index("$ lmr-author evaluate")


def test_a_demo_that_was_killed_is_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(work: Path, *_: object) -> int:
        (work / "paper.pdf").write_text("half")
        raise KeyboardInterrupt

    def author(work: Path, *_: object) -> int:
        assert not (work / "paper.pdf").exists()
        (work / "paper.pdf").write_text("whole")
        return 0

    words = ["demo", "--dir", str(tmp_path / "demo")]
    monkeypatch.setattr("lmr_author.cli.demo._author", killed)
    assert main(words) == 130
    monkeypatch.setattr("lmr_author.cli.demo._author", author)
    assert main(words) == 0
    assert main(words) == 3, "it is whole, and stays"
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["paper.pdf"]


@pytest.mark.bwrap
def test_demo_takes_the_next_free_folder_and_refuses_one_that_exists(demo: Demo, tmp_path: Path) -> None:
    before = snapshot(demo.folder)
    done = lmr("demo", "--dir", demo.folder, cwd=tmp_path)
    assert done.code == 3 and "exists already" in done.err
    assert snapshot(demo.folder) == before

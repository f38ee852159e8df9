"""The wizard of ``new-task``: what it asks, what it shows, and its interruption."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.authoring.new_task.draft import LABELS
from lmr_author.authoring.new_task.new_task import NewTaskOptions, new_task
from lmr_author.cli import ui
from lmr_author.cli.new_task import Wizard, paper_problem
from lmr_author.cli.new_task import new_task as command
from lmr_author.cli.ui import Progress
from lmr_author.core.task import Task, provenance
from tests.gitrepos import commit, make_repository
from tests.keyboard import ESCAPE, typed
from tests.papers import make_paper
from tests.servers import Answer, serve

ENTER, DOWN, CTRL_C, CLEAR = "\r", "\x1b[B", "\x03", "\x15"


@pytest.fixture
def options(tmp_path: Path) -> NewTaskOptions:
    """A paper that links a repository, which is not named; a repository on this machine."""
    make_repository(tmp_path / "pair-wins", {"train.py": "x = 1\n"})
    body = "We learn. Code: https://github.com/someone/pair-wins\n" + "words " * 60
    pdf = make_paper(tmp_path / "in.pdf", body=body, stamp="arXiv:2305.18290v2 [cs.LG]")
    return NewTaskOptions(str(pdf), str(tmp_path / "pair-wins"), tasks_dir=tmp_path / "tasks", offline=True)


PERSON = Wizard(Progress(None), {})


def place(field: str) -> str:
    """The keys that choose a field of the page."""
    return DOWN * (list(LABELS).index(field) + 1) + ENTER


def test_what_can_be_derived_needs_one_key(keys: PipeInput, options: NewTaskOptions) -> None:
    keys.send_text(ENTER)
    made = new_task(options, wizard=PERSON)
    assert (made.task.name, made.info.year) == ("1-Pairwise-Wins", 2023)


def test_every_answer_can_be_changed_before_anything_is_written(
    keys: PipeInput, options: NewTaskOptions
) -> None:
    changes = {"number": "7", "name": "Wins", "title": "Wins", "year": "2022", "paper_url": "https://x.org/p",
               "repo_url": "https://x.org/r", "repo_folder": "code"}  # fmt: skip
    for field, value in changes.items():
        keys.send_text(place(field) + CLEAR + value + ENTER)
    keys.send_text(ENTER)
    info = new_task(options, wizard=PERSON).info
    assert (info.instance_id, info.folder_name, info.paper_name, info.year) == (7, "7-Wins", "Wins", 2022)
    assert (info.paper_url, info.repo_url, info.repo_folder_name) == (
        "https://x.org/p",
        "https://x.org/r",
        "code",
    )


def test_what_is_wrong_or_missing_is_asked_until_it_is_right(keys: PipeInput, tmp_path: Path) -> None:
    make_repository(tmp_path / "code", {"a.py": ""})
    pdf = make_paper(tmp_path / "in.pdf", title="", body="words " * 300, metadata={"creationDate": ""})
    keys.send_text("Wins: A Study" + ENTER + "22" + ENTER + CLEAR + "2022" + ENTER)
    keys.send_text("https://x.org/p" + ENTER + CLEAR + "https://x.org/r" + ENTER)
    keys.send_text(place("name") + CLEAR + "a/b" + ENTER + CLEAR + "ab" + ENTER + ENTER)
    options = NewTaskOptions(str(pdf), str(tmp_path / "code"), tasks_dir=tmp_path / "tasks", offline=True)
    info = new_task(options, wizard=PERSON).info
    assert (info.paper_name, info.year, info.folder_name) == ("Wins: A Study", 2022, "1-ab")
    # What `validate` would report later is asked now.
    assert (info.paper_url, info.repo_url) == ("https://x.org/p", "https://x.org/r")


README = """# Wins
See also [Losses: another paper entirely](https://arxiv.org/abs/1901.00001).

```
@inproceedings{doe2024,
  title = {Pairwise {Wins}: Learning from Pairs of Answers}, author = {M{\\"u}ller, Jos\\'e and Kim Li},
  booktitle = {Proceedings of ACL}, year = 2024}
```
"""


def test_the_repository_s_citation_fills_the_page_and_a_conflict_is_a_choice(
    keys: PipeInput, options: NewTaskOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(Path(options.repo), {"README.md": README})
    keys.send_text(place("year") + DOWN + ENTER + ENTER)  # the preprint's year instead
    made = new_task(options, wizard=PERSON)
    assert made.info.paper_name == "Pairwise Wins: Learning from Pairs of Answers"
    assert "another source has 2023 (the arXiv id)" in capsys.readouterr().err
    assert made.info.year == 2023
    origin = provenance.load(made.task).paper
    assert origin.authors == ("José Müller", "Kim Li")
    assert (origin.venue, origin.year_origin) == ("Proceedings of ACL", "the arXiv id")


def test_the_repository_that_the_paper_links_is_offered(keys: PipeInput, tmp_path: Path) -> None:
    keys.send_text(DOWN + ENTER)
    assert PERSON.repository(("https://github.com/a/b", "https://github.com/c/d")) == "https://github.com/c/d"
    keys.send_text(DOWN + ENTER + ENTER + str(tmp_path) + ENTER)
    assert PERSON.repository(("https://github.com/a/b",)) == str(tmp_path)


def test_a_wrong_path_of_the_paper_is_refused_at_once(tmp_path: Path) -> None:
    assert "no such file" in paper_problem(f"{tmp_path}/none.pdf")
    assert paper_problem("2305.18290") == ""


def test_an_interrupted_wizard_leaves_nothing_and_prints_a_command_with_the_answers(
    keys: PipeInput,
    options: NewTaskOptions,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(ui, "can_ask", lambda: True)
    monkeypatch.setattr(sys, "argv", ["lmr-author", "new-task", "--offline"])
    keys.send_text(f"{options.paper}{ENTER}{DOWN}{ENTER}{options.repo}{ENTER}")
    keys.send_text(place("name") + CLEAR + "Kept" + ENTER + place("venue") + "ACL" + ENTER + CTRL_C)
    with pytest.raises(KeyboardInterrupt):
        command(tasks_dir=options.tasks_dir, offline=True)
    assert list(options.tasks_dir.glob("*")) == []
    said = " ".join(capsys.readouterr().err.split())
    assert f"new-task --offline {options.paper} --repo {options.repo}" in said and "--name Kept" in said
    assert "answer again: Venue" in said


def test_escape_returns_to_the_previous_question(
    keys: PipeInput, options: NewTaskOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui, "can_ask", lambda: True)
    body = "We learn. Code: https://github.com/someone/pair-wins\n" + "words " * 60
    make_paper(Path(options.paper), body=body, metadata={"creationDate": ""})
    strokes = (
        f"{options.paper}{ENTER}",
        ESCAPE,  # from the repository to the paper
        ENTER,
        f"{DOWN}{ENTER}",
        ESCAPE,  # from its path to those that the paper links
        f"{DOWN}{ENTER}",
        f"{options.repo}{ENTER}",
        ESCAPE,  # from the first question about the task to the repository
        f"{DOWN}{ENTER}",
        f"{options.repo}{ENTER}",
        f"2022{ENTER}",
        f"https://x.org/p{ENTER}",
        ESCAPE,  # from the page to the question before it
        ESCAPE,
        f"{CLEAR}2021{ENTER}",
        ENTER,
        place("name"),
        ESCAPE,  # from a field to the page
        ENTER,
    )
    with typed(keys, *strokes):
        assert command(tasks_dir=options.tasks_dir, offline=True) == 0
    info = Task(options.tasks_dir / "1-Pairwise-Wins").load()
    assert (info.year, info.paper_url) == (2021, "https://x.org/p")


@pytest.fixture
def slow_index(options: NewTaskOptions, monkeypatch: pytest.MonkeyPatch) -> Iterator[NewTaskOptions]:
    """Somebody who presses Ctrl-C as soon as a package index, which takes for ever, is asked."""
    commit(Path(options.repo), {"requirements.txt": "slow==1.0\n"})
    pressed = Answer(after=60, on_asked=lambda: os.kill(os.getpid(), signal.SIGINT))
    monkeypatch.delenv("UV_OFFLINE")
    with serve({"/simple/slow/": pressed}) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{address}/simple")
        yield replace(options, offline=False, base_image="me/base:1")


def test_ctrl_c_while_versions_are_looked_up_goes_on_without(
    keys: PipeInput, slow_index: NewTaskOptions
) -> None:
    keys.send_text(ENTER)
    said: list[str] = []
    made = new_task(slow_index, said.append, wizard=PERSON)
    assert any("pinning 1 requirements" in line and "Ctrl-C skips this" in line for line in said)
    assert "\nslow==1.0\n" in made.task.lock.read_text()
    (note,) = [note for note in made.notes if note.startswith("requirements.lock is")]
    assert "NOT pinned: it was interrupted" in note and "lmr-author env lock" in note


def test_with_nobody_there_an_interrupt_ends_it(slow_index: NewTaskOptions) -> None:
    with pytest.raises(KeyboardInterrupt):
        new_task(slow_index)
    assert not slow_index.tasks_dir.exists()

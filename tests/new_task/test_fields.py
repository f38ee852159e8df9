"""`lmr-author set`: facts change without an editor, and only to what the checks accept."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from lmr_author.authoring.new_task.fields import FIELDS, read_fields, set_fields
from lmr_author.cli.app import main
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Task, evaluation, provenance
from lmr_author.core.task.folder import TaskState
from tests.new_task.making import make
from tests.papers import make_paper

LEDGER = """\
- relation: deviates
  lines: '62'
  quote: The rewards are reported beside it for monitoring and carry no gradient
  note: The code computes them a second time.
  instruction: Implement the loss of the paper
"""

STARTER = Path(__file__).parents[2] / "tasks" / "1-rating-margin"


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task(shutil.copytree(STARTER, tmp_path / STARTER.name))


def test_every_field_can_be_changed_and_put_back(task: Task) -> None:
    before = task.info_path.read_bytes(), task.provenance_path.read_bytes()
    old = read_fields(task)
    new = {
        "title": "A Better Title", "authors": "Jane Doe; Kim Li", "year": "2019", "venue": "ACL 2019",
        "paper_url": "https://x.org/p", "paper_license": "CC-BY-4.0", "repo_url": "https://x.org/r", "license": "ISC",
        "category": "Data Augmentation", "retrieval": "train.py", "instruction": "Implement the loss of the paper.",
        "ledger": LEDGER,
    }  # fmt: skip
    assert set(new) == set(FIELDS) == set(old)
    changes = set_fields(task, new)
    assert read_fields(task) == new
    paper = provenance.load(task).paper
    assert (paper.title, paper.year, paper.authors) == ("A Better Title", 2019, ("Jane Doe", "Kim Li"))
    set_fields(task, {one.field: one.before for one in changes})
    assert json.loads(task.info_path.read_bytes()) == json.loads(before[0])


def test_the_evaluation_still_holds_afterwards(task: Task) -> None:
    running = TaskState.of(task).running
    set_fields(task, {"year": "2019", "category": "Data Augmentation"})
    assert TaskState.of(task).running == running
    assert evaluation.load(task) is not None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("year=soon", "not a year"),
        ("year=1203", "1203"),
        ("title=", "non-empty|short"),
        ("repo_url=../code", "is a local path"),
        ("category=decoding", "not one of the nine"),
        ("retrieval=train.py,none.py", "'none.py' does not exist"),
        ("retrieval=../info.json", "leaves the repository"),
        ("paper=x", "unknown field 'paper'"),
    ],
)
def test_what_a_check_would_report_is_refused_and_nothing_is_written(
    task: Task, value: str, message: str
) -> None:
    before = task.info_path.read_bytes()
    name, _, text = value.partition("=")
    with pytest.raises(UsageError, match=message) as caught:
        set_fields(task, {"venue": "ACL", name: text})
    assert caught.value.hint
    assert task.info_path.read_bytes() == before
    assert provenance.load(task).paper.venue != "ACL"


def test_a_ledger_that_does_not_hold_is_refused_and_nothing_is_written(task: Task) -> None:
    before = task.info_path.read_bytes()
    for text, place in (
        (LEDGER, "ledger: entries[0].instruction: is not in"),
        (LEDGER.replace("62", "63"), "ledger: entries[0].lines"),
        ("- relation: [", "ledger:1: not valid YAML"),
    ):
        with pytest.raises(LmrError) as caught:
            set_fields(task, {"year": "2019", "ledger": text})
        assert caught.value.message.startswith(place) and caught.value.hint
        assert not task.ledger_path.exists() and task.info_path.read_bytes() == before


def test_a_sign_off_is_of_one_ledger(task: Task) -> None:
    before = TaskState.of(task)
    set_fields(
        task,
        {
            "ledger": LEDGER.replace(
                "Implement the loss of the paper", "gradients flow through the losses only"
            )
        },
    )
    after = TaskState.of(task)
    assert (after.content, after.running) == (
        before.content,
        before.running,
    ) and after.reviewed != before.reviewed


def test_keys_of_others_stay(task: Task) -> None:
    raw = task.load_raw() | {"our_lab": {"shelf": 3}}
    task.info_path.write_text(json.dumps(raw))
    set_fields(task, {"year": "2019"})
    assert task.load_raw() == raw | {"year": 2019}


def test_a_task_without_provenance_keeps_no_authors(task: Task) -> None:
    task.provenance_path.unlink()
    with pytest.raises(LmrError, match=r"provenance\.json"):
        set_fields(task, {"authors": "Jane Doe"})
    set_fields(task, {"year": "2019"})
    assert task.load().year == 2019


def test_the_command_prints_how_to_undo_it(
    task: Task, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(task.root)
    title = task.load().paper_name
    assert main(["set", "title=It's new", "year=2019"]) == 0
    undo = next(line for line in capsys.readouterr().err.splitlines() if line.startswith("undo: "))
    assert main(shlex.split(undo)[2:]) == 0
    assert task.load().paper_name == title


@pytest.mark.parametrize("former", ["@instruction.txt", "Word " * 100, "two\nlines"])
def test_what_cannot_be_typed_has_no_undo(
    former: str, task: Task, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(task.root)
    set_fields(task, {"title": former})
    assert main(["set", "title=New"]) == 0
    assert "undo: " not in capsys.readouterr().err


def test_a_new_task_without_an_address_names_the_command(tmp_path: Path, source: Path) -> None:
    made = make(tmp_path, make_paper(tmp_path / "p.pdf"), source, name="a")
    notes = "\n".join(made.notes)
    assert "lmr-author set --task" in notes and "paper_url=URL" in notes and "repo_url=URL" in notes

"""A challenge from run to run: resumed, interrupted, accepted, out of date; and what is shown of it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Task, provenance
from lmr_author.core.task import challenge as stored
from lmr_author.core.task.challenge import Challenge, ChallengeStatus, Ending
from lmr_author.core.task.provenance import Provenance
from lmr_author.core.task.recording import MANIFEST
from lmr_author.proof.evaluation.candidates.scorer import TaskScorer
from lmr_author.release.challenge.calls import NoDriverError
from lmr_author.release.challenge.challenge import ChallengeOptions, accept, challenge
from lmr_author.release.export.export import examine
from lmr_author.release.reporting.status import status_with, with_challenge
from lmr_author.release.reporting.task_page import task_page
from lmr_author.release.review.evidence_of_questions import evidence_of
from tests.challenge import made
from tests.challenge.conftest import Challenged
from tests.challenge.made import answer
from tests.cli.program import lmr_forked, refuse
from tests.evaluation.foreign import PLAIN, PLAIN_PYTHON
from tests.pipeline import quiet, recorded
from tests.review.reviewing import run as command

pytestmark = pytest.mark.bwrap


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is run: whatever is asked for is known."""

    def refuse(*_: Any) -> Any:
        raise AssertionError("an answer is run that was run before")

    monkeypatch.setattr(TaskScorer, "ready", refuse)


def test_what_was_run_is_not_run_again(challenged: Challenged, tmp_path: Path, nothing_runs: None) -> None:
    task = challenged.copy(tmp_path)
    done = made.run(task)
    assert done.resumed == len(done.record.answers) == len(challenged.before.answers)
    assert made.run(task, challenged.answers).record.answers == done.record.answers


def test_an_interrupted_run_goes_on(challenged: Challenged, tmp_path: Path) -> None:
    task = challenged.copy(tmp_path, "fresh")
    chosen = ("floor", "wrong")
    folder = made.answers(
        tmp_path / "some", {"floor": made.MISREADINGS["floor"]}, {"loop": made.REWRITES["loop"]}
    )

    def interrupt(step: str) -> None:
        if step.startswith("rewrite"):
            raise KeyboardInterrupt

    options = ChallengeOptions(folder, where=PLAIN)
    with pytest.raises(KeyboardInterrupt):
        challenge(task, options, tmp_path, interrupt)
    left = Challenge.read(task.challenge_path)
    assert [bool(one.digest) for one in left.answers] == [True, False]
    done = made.run(task, folder)
    assert done.resumed == 1
    assert [one.ending for one in done.record.answers] == [Ending.FAILS, Ending.PASSES]
    # An answer that is no longer there, and one that changed.
    (folder / "rewrites" / "loop.py").unlink()
    (folder / "misreadings" / "floor.py").write_text(made.as_function("return values"))
    again = made.run(task, folder)
    assert again.resumed == 0
    assert [one.name for one in again.record.answers] == list(chosen[:1])


def test_an_acceptance_is_kept(challenged: Challenged, tmp_path: Path, nothing_runs: None) -> None:
    task = challenged.copy(tmp_path)
    accept(task, "negative-step", "a step is a size, and positive")
    accept(task, "wrong", "it is the misreading")
    record = made.run(task, challenged.answers).record
    assert answer(record, "negative-step").ending is Ending.EQUIVALENT
    assert answer(record, "wrong").ending is Ending.NOT_A_REWRITE
    assert {"negative-step", "wrong"}.isdisjoint(one.name for one in record.open)
    assert "2 accepted" in record.summary


@pytest.mark.parametrize(
    ("name", "reason", "message"),
    [
        ("floor", "why not", "as it should"),
        ("no-step", " ", "needs a reason"),
        ("nobody", "why not", "there is no answer 'nobody'"),
    ],
)
def test_what_cannot_be_accepted(
    name: str, reason: str, message: str, challenged: Challenged, tmp_path: Path
) -> None:
    task = challenged.copy(tmp_path)
    with pytest.raises(UsageError, match=message):
        accept(task, name, reason)


def test_another_recording_makes_it_out_of_date(challenged: Challenged, tmp_path: Path) -> None:
    task = challenged.copy(tmp_path)
    info = task.load()
    assert stored.status_of(task, info)[0] is ChallengeStatus.OPEN
    manifest = task.recording(info, 1) / MANIFEST
    manifest.write_text(manifest.read_text() + "\n")
    assert stored.status_of(task, info)[0] is ChallengeStatus.STALE


def without_driver(challenged: Challenged, folder: Path) -> tuple[Task, Path]:
    """Return a task whose driver was moved elsewhere, and two misreadings and a rewrite."""
    task = challenged.copy(folder, "fresh")
    (folder / "elsewhere").mkdir()
    (folder / "driver.py").rename(folder / "elsewhere" / "driver.py")
    texts = {name: made.MISREADINGS[name] for name in ("floor", "large-stay")}
    return task, made.answers(folder / "some answers", texts, {"loop": made.REWRITES["loop"]})


def test_the_driver_is_looked_for_before_anything_runs(
    challenged: Challenged, tmp_path: Path, nothing_runs: None
) -> None:
    task, folder = without_driver(challenged, tmp_path)
    with pytest.raises(NoDriverError, match=r"there is no driver\.py") as raised:
        made.run(task, folder)
    assert raised.value.exit_code == 2 and raised.value.remembered is None
    assert not task.challenge_path.exists()


def test_the_hint_can_be_pasted(
    challenged: Challenged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the task remembers the folder, as it is; what a stranger's record says is never taken without a word."""
    task, folder = without_driver(challenged, tmp_path)
    told = ("challenge", task.root, "--answers", folder, "--python", PLAIN_PYTHON)
    _, hint = refuse(2, *told, cwd=tmp_path)
    assert hint.endswith(" --driver DIR") and "the folder DIR that has driver.py" in hint
    Provenance(drivers={"driver.py": "../elsewhere"}).write(task.provenance_path)
    _, hint = refuse(2, *told, cwd=tmp_path)
    words = shlex.split(hint.partition(": ")[2])
    assert words[0] == "lmr-author" and words[-1] == str(tmp_path / "elsewhere")
    code, shown = command(capsys, *words[1:])
    assert code == 1 and "passes, but differs on another recorded call" in shown


def test_record_remembers_a_driver_outside_of_the_repository(challenged: Challenged, tmp_path: Path) -> None:
    task, _ = without_driver(challenged, tmp_path)
    Provenance().write(task.provenance_path)
    recorded(task, made.TARGET, "python", "driver.py", cases=3, here=tmp_path / "elsewhere", force=True)
    assert provenance.load(task).drivers == {"driver.py": "../elsewhere"}


def test_what_is_known_is_shown_where_something_fails_later(challenged: Challenged, tmp_path: Path) -> None:
    """The driver no longer calls the target: the cases have decided the rest."""
    task, folder = without_driver(challenged, tmp_path)
    (tmp_path / "elsewhere" / "driver.py").write_text("pass\n")
    told = ("challenge", task.root, "--answers", folder, "--python", PLAIN_PYTHON, "--driver", "elsewhere")
    done = lmr_forked(*told, cwd=tmp_path, env={"COLUMNS": "200"})
    assert done.code == 3 and "error: " in done.err and "never called" in done.err, done.err
    assert "misreading  floor: fails on case_" in done.out
    assert "misreading  large-stay: passes" in done.out
    assert "rewrite     loop: passes" in done.out
    left = Challenge.read(task.challenge_path)
    assert [bool(answer(left, name).digest) for name in ("floor", "large-stay", "loop")] == [
        True,
        False,
        True,
    ]
    shown = lmr_forked(*told, "--format", "json", cwd=tmp_path)
    assert shown.code == 3 and len(shown.json()["answers"]) == 3


def test_rewrites_alone_need_no_driver(challenged: Challenged, tmp_path: Path) -> None:
    task, _ = without_driver(challenged, tmp_path)
    folder = made.answers(tmp_path / "rewrites only", {}, {"loop": made.REWRITES["loop"]})
    assert answer(made.run(task, folder).record, "loop").ending is Ending.PASSES


def test_the_driver_may_lie_beside_the_folder_of_the_tasks(challenged: Challenged, tmp_path: Path) -> None:
    """As `record` took it in a folder that holds ``tasks/``."""
    (tmp_path / "tasks").mkdir()
    task = challenged.copy(tmp_path / "tasks", "fresh")
    (tmp_path / "tasks" / "driver.py").rename(tmp_path / "driver.py")
    folder = made.answers(tmp_path / "some", {"large-stay": made.MISREADINGS["large-stay"]}, {})
    record = made.run(task, folder).record
    assert answer(record, "large-stay").ending is Ending.TOLD_APART


@pytest.mark.parametrize("script", ["../driver.py", "/etc/driver.py"])
def test_a_script_that_a_stranger_names_elsewhere_is_not_run(
    script: str, challenged: Challenged, tmp_path: Path
) -> None:
    """The sandbox shows the folder of the script."""
    (tmp_path / "tasks").mkdir()
    task = challenged.copy(tmp_path / "tasks", "fresh")
    manifest = task.recording(task.load(), 1) / MANIFEST
    manifest.write_text(manifest.read_text().replace('"driver.py"', f'"{script}"'))
    folder = made.answers(tmp_path / "some", {"large-stay": made.MISREADINGS["large-stay"]}, {})
    with pytest.raises(UsageError, match="elsewhere on this machine"):
        made.run(task, folder)


def test_a_task_without_a_recording_is_refused(challenged: Challenged, tmp_path: Path) -> None:
    task = challenged.copy(tmp_path, "fresh")
    (task.recording(task.load(), 1) / MANIFEST).unlink()
    with pytest.raises(LmrError, match="has no recording"):
        made.run(task, challenged.answers)


def test_nothing_known_and_nothing_given(challenged: Challenged, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no misreadings or rewrites"):
        made.run(challenged.copy(tmp_path, "fresh"))


def test_the_verb_shows_what_is_open_and_what_comes_next(challenged: Challenged, tmp_path: Path) -> None:
    task = challenged.copy(tmp_path)
    place = ("--python", PLAIN_PYTHON)
    done = lmr_forked("challenge", task.root, *place, cwd=tmp_path, env={"COLUMNS": "80"})
    assert done.code == 1
    assert "misreading  floor: fails on case_" in done.out
    assert "no recorded call reaches line" in done.out and "made of call" in done.out
    shown_text = " ".join(done.out.split())
    assert re.search(r"AttributeError: .*it may need an API that is not in Python 3[.\d]+", shown_text), (
        shown_text
    )
    assert f"next: lmr-author challenge {task.root} --python {PLAIN_PYTHON} --strengthen" in done.out
    shown = lmr_forked("challenge", task.root, *place, "--format", "json", cwd=tmp_path).json()
    assert shown["resumed"] == len(shown["answers"])
    accepted = lmr_forked(
        "challenge", task.root, "--accept", "negative-step", "--reason", "steps are 1", cwd=tmp_path
    )
    assert accepted.code == 0
    assert "negative-step is accepted as equivalent" in accepted.out


def test_status_page_review_and_export_know_of_it(challenged: Challenged, tmp_path: Path) -> None:
    task = challenged.copy(tmp_path)
    summary = "1 of 6 misreadings fail, 2 of 6 rewrites pass"
    found = with_challenge(task, status_with(task, ())).challenged
    assert found is not None
    assert (found.text, found.status, found.fail, found.misreadings) == (summary, "open", 1, 6)
    page = task_page(task, quiet)
    assert ("Challenge", summary, "bad") in page["verdict"]
    shown = [line for one in page["evidence"]["tests"].pieces for line in one.lines]
    assert all(any(f" {name} " in line for line in shown) for name in ("floor", "loop"))
    tests = evidence_of(task, ())["tests"]
    assert any("negative-step matches the golden on every recorded call" in doubt for doubt in tests.doubts)
    assert any("misreading floor fails" in line for one in tests.pieces for line in one.lines)
    (asked,) = examine([task], challenged=True)
    (not_asked,) = examine([task])
    assert [text for text in asked.problems if text not in not_asked.problems] == [
        "open answers in its challenge: forgets-seen, half-up, large-stay, negative-step, no-step and 4 more"
    ]


def test_export_asks_for_a_challenge_where_it_is_told_to(challenged: Challenged, tmp_path: Path) -> None:
    task = challenged.copy(tmp_path, "fresh")
    (asked,) = examine([task], challenged=True)
    assert "never challenged with misreadings and rewrites" in asked.problems
    assert with_challenge(task, status_with(task, ())).challenged is None

"""Questions at a terminal, answered by keys: prompt_toolkit's pipe input stands for the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.authoring.recording.driver import RecordOptions
from lmr_author.cli import ui
from lmr_author.cli.accept import _ask_reason, _tick
from lmr_author.cli.app import main
from lmr_author.cli.mask import unmask
from lmr_author.cli.record import ask_driver, ask_target
from lmr_author.cli.review import ask_answers
from lmr_author.core.errors import UsageError
from lmr_author.core.task import CATEGORIES, Evaluation, GateResult, GateStatus, Task
from lmr_author.core.task.evaluation import GateDetail, UsedSandbox, store
from lmr_author.core.task.folder import TaskState
from lmr_author.core.task.mutation import Survivor
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.release.review.checklist import HUMAN, human_items
from tests.keyboard import ESCAPE, typed
from tests.pipeline import ADD, HINGE, recorded
from tests.support import make_task

ENTER, DOWN, CTRL_C, CLEAR = "\r", "\x1b[B", "\x03", "\x15"


def test_ctrl_c_is_an_interruption(keys: PipeInput) -> None:
    for question in (
        lambda: ui.text("?"),
        lambda: ui.choice("Category", CATEGORIES),
        lambda: ui.confirm("?"),
    ):
        keys.send_text(CTRL_C)
        with pytest.raises(KeyboardInterrupt):
            question()


def test_escape_leads_to_the_question_before(keys: PipeInput) -> None:
    answers: dict[str, str] = {}

    def ask(name: str) -> Callable[[], None]:
        return lambda: answers.update({name: ui.needed(name)})

    with typed(keys, f"one{ENTER}", ESCAPE, f"two{ENTER}", f"three{ENTER}"):
        ui.steps(ask("first"), lambda: False, ask("second"))
    assert answers == {"first": "two", "second": "three"}


def test_a_reason_can_be_left_for_its_question(keys: PipeInput) -> None:
    question = HUMAN[0]
    with typed(keys, f"f{ENTER}", ESCAPE, f"p{ENTER}", ENTER):
        answers = ask_answers([question], {}, lambda stored: None)
    assert answers == {question.id: {"answer": "pass", "comment": ""}}


def with_survivors(folder: Path, *survivors: Survivor) -> Task:
    """A task whose evaluation lists these."""
    task = make_task(folder)
    state = TaskState.of(task)
    detail = GateDetail(made=3, survivors=survivors)
    gate = GateResult("mutants-die", GateStatus.FAILED, "…", implementation=1, detail=detail)
    record = Evaluation(
        tool="1", sandbox=UsedSandbox("local"), started="2026-01-01", seconds=1.0, content_digest=state.content,
        running_digest=state.running, gates=(gate,), passed=False,
    )  # fmt: skip
    store(task, record)
    return task


def test_survivors_are_ticked_in_a_list_and_none_beforehand(
    keys: PipeInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Survivor("0a", 3, "constant", "-    y = x0 + 1\n+    y = x1 + 1")
    task = with_survivors(tmp_path, first, Survivor("0b", 9, "other", "-    print(y)"))
    keys.send_text(DOWN + " " + ENTER)
    assert _tick(task) == ["0b"]
    shown = capsys.readouterr().err
    assert "0a line 3, constant\n  -    y = x0 + 1\n  +    y = x1 + 1\n0b line 9, other\n" in shown
    monkeypatch.setattr(ui, "can_ask", lambda: True)
    keys.send_text(ENTER)
    assert main(["accept", str(task.root)]) == 2
    shown = capsys.readouterr().err
    assert "no mutant was chosen" in shown and "tick rows with the space bar" in shown


def test_each_mutant_is_asked_for_a_sentence_of_its_own(keys: PipeInput, tmp_path: Path) -> None:
    task = make_task(tmp_path)
    made = {
        name: ("a.py::f", Mutant(name, "constant", 3, f"    x = {name}", "    x = 7", b""))
        for name in ("0000000a", "0000000b")
    }
    reasons: dict[str, str] = {}
    for name, answers in (
        ("0000000a", ("equivalent", "x is overwritten before anybody reads it")),
        (
            "0000000b",
            ("X is overwritten, before anybody reads it!", "the loop that reads x never runs again"),
        ),
    ):
        keys.send_text((ENTER + CLEAR).join(answers) + ENTER)
        reasons[name] = _ask_reason(task, made, reasons, name)
        assert reasons[name] == answers[1]


def test_a_review_asks_why_until_there_is_a_reason(keys: PipeInput) -> None:
    keys.send_text(ENTER)  # no answer: Enter alone signs nothing,
    keys.send_text("f" + ENTER)  # fail,
    keys.send_text(ENTER)  # no reason given,
    keys.send_text("   " + ENTER)  # none that says anything,
    keys.send_text("names a wrong section" + ENTER)
    keys.send_text("u" + ENTER + "no time" + ENTER)
    keys.send_text(("p" + ENTER) * (len(HUMAN) - 2) + ENTER)
    items = human_items(ask_answers(HUMAN, {}, lambda _: None))
    assert [(item.answer, item.comment) for item in items[:2]] == [
        ("fail", "names a wrong section"),
        ("unsure", "no time"),
    ]
    assert {item.answer for item in items[2:]} == {"pass"}
    assert not all(item.answer == "pass" for item in items)


def test_record_asks_until_the_command_can_be_recorded(keys: PipeInput, tmp_path: Path) -> None:
    task = make_task(tmp_path)
    mask(task, MaskOptions(("pkg/losses.py::hinge", "pkg/losses.py::Meter.add")), task.root)
    keys.send_text(DOWN + ENTER)  # the second function
    keys.send_text(ENTER)  # a command: the repository has no tests, and there is no last one
    keys.send_text("nowhere.py" + ENTER + CLEAR + "python run.py --steps 2" + ENTER)
    target, _ = ask_target(task, None, force=False)
    assert target == "pkg/losses.py::Meter.add"
    options = ask_driver(task, target, RecordOptions())
    assert isinstance(options, RecordOptions)
    assert options.words == ("python", "run.py", "--steps", "2")


def test_record_offers_the_last_command_the_tests_an_example_and_a_draft(
    keys: PipeInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    task = make_task(tmp_path)
    mask(task, MaskOptions((HINGE, ADD)), task.root)
    recorded(task, HINGE)
    (task.root / "small-repo" / "test_losses.py").write_text("from pkg.losses import Meter\n")

    def answered(typed: str) -> RecordOptions | Path:
        keys.send_text(typed)
        return ask_driver(task, ADD, RecordOptions())

    assert answered(ENTER) == RecordOptions(command="python run.py")  # that of the other function
    assert answered(DOWN * 2 + ENTER) == RecordOptions(from_tests=True)
    example = DOWN * 3 + ENTER + CLEAR + "Meter(" + ENTER + CLEAR + "Meter().add(1.0)" + ENTER
    assert answered(example) == RecordOptions(examples=("Meter().add(1.0)",))
    (tmp_path / "driver.py").touch()
    drafted = DOWN * 4 + ENTER + ENTER + CLEAR + "mine.py" + ENTER
    assert answered(drafted) == Path("mine.py")


def test_record_asks_before_the_command_whether_a_test_is_to_be_replaced(
    keys: PipeInput, tmp_path: Path
) -> None:
    task = make_task(tmp_path)
    mask(task, MaskOptions((HINGE,)), task.root)
    recorded(task, HINGE)
    keys.send_text("n")
    with pytest.raises(UsageError, match="nothing was recorded"):
        ask_target(task, HINGE, force=False)
    keys.send_text("y")
    assert ask_target(task, HINGE, force=False) == (HINGE, True)


def test_many_answers_are_filtered_by_what_is_typed(keys: PipeInput) -> None:
    keys.send_text(ENTER)  # nothing is marked yet
    keys.send_text("second" + " " + ENTER)
    assert ui.several("Which?", {"a.py::first": "x", "a.py::second": "y"}, search=True) == ["a.py::second"]


def test_unmask_without_a_target_asks_which(
    keys: PipeInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task(tmp_path)
    before = (task.root / "small-repo/pkg/losses.py").read_bytes()
    names = ("pkg/losses.py::hinge", "pkg/losses.py::Meter.add", "pkg/losses.py::Meter.each")
    mask(task, MaskOptions(names, category=CATEGORIES[0]), task.root)
    monkeypatch.setattr(ui, "can_ask", lambda: True)
    keys.send_text(DOWN + ENTER)
    assert unmask(task=task.root) == 0
    assert [str(one.target) for one in task.load().implementations] == [names[0], names[2]]
    monkeypatch.setattr(ui, "can_ask", lambda: False)
    with pytest.raises(UsageError, match="no target") as caught:
        unmask(task=task.root)
    assert names[0] in caught.value.hint and "--all" in caught.value.hint
    monkeypatch.setattr(ui, "can_ask", lambda: True)
    keys.send_text(DOWN + DOWN + ENTER)
    assert unmask(task=task.root) == 0
    assert (task.root / "small-repo/pkg/losses.py").read_bytes() == before

"""Lines as they are printed: wrapped at words, quoted, gates with their survivors."""

from __future__ import annotations

import pytest

from lmr_author.cli import ui
from lmr_author.cli.evaluate import GateTable
from lmr_author.core.task import GateResult, GateStatus
from lmr_author.core.task.evaluation import GateDetail
from lmr_author.core.task.mutation import Survivor
from lmr_author.core.texts import Step


def test_lines_hang_and_no_word_is_broken() -> None:
    path = "a/very/long/path/" + "x" * 40
    lines = ui.wrapped(f"  golden       {path} and some words more, by-and-by", 40, 15)
    assert lines[1:] == [f"{'':15}{path}", f"{'':15}and some words more,", f"{'':15}by-and-by"]
    assert lines[0].strip() == "golden"


def test_a_long_path_keeps_its_end_and_is_folded_at_its_joints() -> None:
    path = "transformers/models/performer/modeling_flax_performer.py::Attention.forward"
    short = ui.shortened_inside(path, 60)
    assert len(short) == 60 and short.endswith("performer.py::Attention.forward")
    assert ui.folded(path, 40) == [
        "transformers/models/performer/",
        "modeling_flax_performer.py",
        "::Attention.forward",
    ]


def test_a_warning_fits_the_line_below_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    warning = ui._validate(lambda answer: f"{answer}: there is no such file")("x" * 80)
    assert isinstance(warning, str) and len(warning) < 40 and warning.endswith(": there is no such file")


def test_a_command_to_paste_is_quoted_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    ui.then("mask", "a b.py::f", "--task", "x" * 200)
    assert capsys.readouterr().err == f"next: lmr-author mask 'a b.py::f' --task {'x' * 200}\n"


@pytest.mark.parametrize(("status", "shown"), [(GateStatus.PASSED, 0), (GateStatus.FAILED, 12)])
def test_a_gate_that_fails_shows_its_survivors(
    status: GateStatus, shown: int, capsys: pytest.CaptureFixture[str]
) -> None:
    survivors = tuple(Survivor(f"m{number}", 1, "constant", "-a\n+b") for number in range(12))
    gate = GateResult("mutants-die", status, "…", implementation=1, detail=GateDetail(survivors=survivors))
    GateTable("1-Task").show(gate)
    assert capsys.readouterr().out.count("survivor m") == shown


def test_what_is_left_of_a_step_is_told_by_its_speed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ui, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(ui, "_said_at", 0.0)
    now = iter(range(0, 10_000, 10))
    monkeypatch.setattr(ui.time, "monotonic", lambda: next(now))
    with ui.progress("recording") as progress:
        for done in (0, 50, 100):
            progress(Step.within("record: ", Step(f"mutant {done}", done, 100)))
        progress("confirming")
        progress(Step("call 10", 10, 1000))
    first, second, last, *others = capsys.readouterr().err.splitlines()
    assert first.startswith("record: mutant 0 (") and "left" not in first
    assert (
        second.startswith("record: mutant 50 (") and ", about 0:00:" in second and second.endswith(" left)")
    )
    assert not any("left" in line for line in (last, *others))


def test_long_work_says_a_step_now_and_then_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ui.progress("recording") as progress:
        progress("running the command")
        monkeypatch.setattr(ui, "QUIET_SECONDS", 0.0)
        for _ in range(2):
            progress("trying mutant 50 of 100")
        monkeypatch.setattr(ui, "QUIET_SECONDS", 60.0)
        ui.say("a gate")
        progress("trying mutant 60 of 100")
    shown = capsys.readouterr()
    assert shown.err.startswith("trying mutant 50 of 100 (") and shown.err.count("\n") == 2 and not shown.out

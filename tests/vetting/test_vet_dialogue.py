"""A vetting at a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.authoring.vetting import vet
from lmr_author.authoring.vetting.questions import QUESTIONS, settled
from lmr_author.cli.vet import ask_questions
from lmr_author.core.task.reviews import VettingRecord
from tests.vetting.vetted import YES

ENTER = "\r"
SEEN = {name: ["a line of the paper"] for name in QUESTIONS}


def vetting(evidence: dict[str, list[str]]) -> VettingRecord:
    return VettingRecord(status="open", questions=vet.open_questions(evidence))


def answers(record: VettingRecord) -> dict[str, tuple[str, str]]:
    return {name: (one.answer, one.justification) for name, one in record.questions.items() if one.answer}


def test_at_a_terminal_every_answer_is_stored_at_once_and_can_be_changed(
    keys: PipeInput, capsys: pytest.CaptureFixture[str]
) -> None:
    down = "\x1b[B"
    keys.send_text(("y" + ENTER) * 3)  # no justification
    # venue: no; a reason is asked until there is one
    keys.send_text("n" + ENTER + ENTER + "a workshop" + ENTER)
    keys.send_text("yes" + ENTER)
    keys.send_text("w" + ENTER + "MIT, as GitHub says" + ENTER)  # yes, and say why
    keys.send_text(down + ENTER)  # change the first answer
    keys.send_text("u" + ENTER + "half a survey" + ENTER)
    keys.send_text(ENTER)  # done
    saved: list[int] = []
    ended = ask_questions(vetting(SEEN), {}, lambda now: saved.append(len(answers(now))))

    assert saved == [1, 2, 3, 4, 5, 6, 6, 6]
    assert answers(ended)["methodological_focus"] == ("unsure", "half a survey")
    assert answers(ended)["venue"] == ("no", "a workshop")
    assert answers(ended)["license"] == ("yes", "MIT, as GitHub says")
    shown = capsys.readouterr().err
    assert "methodological focus\n" in shown and "methodological_focus" not in shown


@pytest.mark.parametrize("evidence", [{}, SEEN])
def test_enter_alone_accepts_nothing(keys: PipeInput, evidence: dict[str, list[str]]) -> None:
    keys.send_text(ENTER * 12 + "\x03")
    saved: list[VettingRecord] = []
    with pytest.raises(KeyboardInterrupt):
        ask_questions(vetting(evidence), {}, saved.append)
    assert saved == []


def test_a_yes_without_evidence_needs_a_reason(keys: PipeInput) -> None:
    keys.send_text(("y" + ENTER + ENTER + "I know the authors' code" + ENTER) * len(QUESTIONS) + ENTER)
    ended = ask_questions(vetting({}), {}, lambda now: None)
    assert ended.status == "accepted"
    assert set(answers(ended).values()) == {("yes", "I know the authors' code")}


def test_what_the_evidence_answers_is_shown_and_not_asked(keys: PipeInput) -> None:
    known = settled("Proceedings of EMNLP 2024", 2024, "MIT", 2026)
    keys.send_text(("y" + ENTER) * 3 + ENTER)  # three criteria, then done
    ended = ask_questions(vetting(SEEN), known, lambda now: None)
    assert ended.status == "accepted"
    assert answers(ended)["venue"] == ("yes", "EMNLP: Proceedings of EMNLP 2024")
    assert answers(ended)["license"] == ("yes", "MIT")


@pytest.mark.parametrize(
    ("venue", "year", "licence"),
    [("NeurIPS 2023", 2020, "CC-BY-ND-4.0"), ("", None, ""), ("a survey of ACLs", 2027, "mit")],
)
def test_only_a_sure_yes_is_settled(venue: str, year: int | None, licence: str) -> None:
    assert settled(venue, year, licence, 2026) == {}


def test_a_stop_asks_for_the_reason_to_go_on(keys: PipeInput) -> None:
    keys.send_text("\r" + "they agreed\r")
    start = vet.with_answers(replace(vetting({}), licence_stop="no licence"), YES)
    assert ask_questions(start, {}, lambda now: None).licence_override == "they agreed"

"""A vetting at a terminal."""

from __future__ import annotations

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.authoring.vetting import vet
from lmr_author.authoring.vetting.questions import QUESTIONS, VettingAnswer, settled
from lmr_author.cli.vet import ask_questions
from tests.vetting.vetted import YES

ENTER = "\r"
SEEN = {name: ["a line of the paper"] for name in QUESTIONS}


def test_at_a_terminal_every_answer_is_stored_at_once_and_can_be_changed(keys: PipeInput) -> None:
    down = "\x1b[B"
    keys.send_text(("y" + ENTER) * 3)  # no justification
    # venue: no; a reason is asked until there is one
    keys.send_text("n" + ENTER + ENTER + "a workshop" + ENTER)
    keys.send_text("yes" + ENTER)
    keys.send_text("w" + ENTER + "MIT, as GitHub says" + ENTER)  # yes, and say why
    keys.send_text(down + ENTER)  # change the first answer
    keys.send_text("u" + ENTER + "half a survey" + ENTER)
    keys.send_text(ENTER)  # done
    start = vet.Vetting("P", "R", "", SEEN, (), {}, "")
    saved: list[int] = []
    ended = ask_questions(start, lambda now: saved.append(len(now.answers)))

    assert saved == [1, 2, 3, 4, 5, 6, 6, 6]
    assert ended.answers["methodological_focus"] == VettingAnswer("unsure", "half a survey")
    assert ended.answers["venue"] == VettingAnswer("no", "a workshop")
    assert ended.answers["license"] == VettingAnswer("yes", "MIT, as GitHub says")


@pytest.mark.parametrize("evidence", [{}, SEEN])
def test_enter_alone_accepts_nothing(keys: PipeInput, evidence: dict[str, list[str]]) -> None:
    keys.send_text(ENTER * 12 + "\x03")
    saved: list[vet.Vetting] = []
    with pytest.raises(KeyboardInterrupt):
        ask_questions(vet.Vetting("P", "R", "", evidence, (), {}, ""), saved.append)
    assert saved == []


def test_a_yes_without_evidence_needs_a_reason(keys: PipeInput) -> None:
    keys.send_text(("y" + ENTER + ENTER + "I know the authors' code" + ENTER) * len(QUESTIONS) + ENTER)
    ended = ask_questions(vet.Vetting("P", "R", "", {}, (), {}, ""), lambda now: None)
    assert ended.verdict.status == "accepted"
    assert set(ended.answers.values()) == {VettingAnswer("yes", "I know the authors' code")}


def test_what_the_evidence_answers_is_shown_and_not_asked(keys: PipeInput) -> None:
    known = settled("Proceedings of EMNLP 2024", 2024, "MIT", 2026)
    start = vet.Vetting("P", "R", "", SEEN, (), {}, "", settled=known)
    keys.send_text(("y" + ENTER) * 3 + ENTER)  # three criteria, then done
    ended = ask_questions(start, lambda now: None)
    assert ended.verdict.status == "accepted"
    assert ended.answers["venue"] == VettingAnswer("yes", "EMNLP: Proceedings of EMNLP 2024")
    assert ended.answers["license"] == VettingAnswer("yes", "MIT")


@pytest.mark.parametrize(
    ("venue", "year", "licence"),
    [("NeurIPS 2023", 2020, "CC-BY-ND-4.0"), ("", None, ""), ("a survey of ACLs", 2027, "mit")],
)
def test_only_a_sure_yes_is_settled(venue: str, year: int | None, licence: str) -> None:
    assert settled(venue, year, licence, 2026) == {}


def test_a_stop_asks_for_the_reason_to_go_on(keys: PipeInput) -> None:
    keys.send_text("\r" + "they agreed\r")
    start = vet.Vetting("P", "R", "", {}, (), YES, "no licence")
    assert ask_questions(start, lambda now: None).override == "they agreed"

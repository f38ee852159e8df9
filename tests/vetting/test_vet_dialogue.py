"""A vetting at a terminal."""

from __future__ import annotations

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.authoring.vetting import vet
from lmr_author.authoring.vetting.questions import VettingAnswer, settled
from lmr_author.cli.vet import ask_questions
from tests.vetting.vetted import YES


def test_at_a_terminal_every_answer_is_stored_at_once_and_can_be_changed(keys: PipeInput) -> None:
    enter, down = "\r", "\x1b[B"
    keys.send_text(enter * 3)  # yes, no justification
    # venue: no; a reason is asked until there is one
    keys.send_text(down + enter + enter + "a workshop" + enter)
    keys.send_text(enter)
    keys.send_text(down * 3 + enter + "MIT, as GitHub says" + enter)  # yes, and say why
    keys.send_text(down + enter)  # change the first answer
    keys.send_text(down * 2 + enter + "half a survey" + enter)
    keys.send_text(enter)  # done
    start = vet.Vetting("P", "R", "", {}, (), {}, "")
    saved: list[int] = []
    ended = ask_questions(start, lambda now: saved.append(len(now.answers)))

    assert saved == [1, 2, 3, 4, 5, 6, 6, 6]
    assert ended.answers["venue"] == VettingAnswer("no", "a workshop")
    assert ended.answers["license"] == VettingAnswer("yes", "MIT, as GitHub says")
    assert ended.answers["methodological_focus"] == VettingAnswer("unsure", "half a survey")


def test_what_the_evidence_answers_is_shown_and_not_asked(keys: PipeInput) -> None:
    known = settled("Proceedings of EMNLP 2024", 2024, "MIT", 2026)
    start = vet.Vetting("P", "R", "", {}, (), {}, "", settled=known)
    keys.send_text("\r" * 4)  # three criteria, then done
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

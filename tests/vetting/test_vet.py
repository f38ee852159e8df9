"""Questions and answers of a vetting, and the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.authoring.vetting import vet
from lmr_author.authoring.vetting.questions import (
    ALLOWED,
    NO_CHANGES,
    QUESTIONS,
    VettingAnswer,
    licence_stop,
    verdict,
)
from lmr_author.cli.app import main
from lmr_author.core.errors import UsageError
from lmr_author.core.repo.tree import LICENCES
from tests.gitrepos import make_repository
from tests.papers import make_paper
from tests.vetting.vetted import YES, stored


def test_offline_the_questions_are_open_with_the_evidence_there_is(
    offline: list[str], tmp_path: Path
) -> None:
    assert main(offline) == 1
    data = stored(tmp_path)
    assert data["status"] == "open"
    questions = data["questions"]
    assert isinstance(questions, dict)
    assert "ACL is one of the benchmark's venues" in questions["venue"]["evidence"]
    assert questions["license"]["evidence"] == ["MIT, recognised in LICENSE"]
    assert any("1 Python files" in line for line in questions["clarity_and_complexity"]["evidence"])


def test_an_answers_file_in_yaml_and_a_second_run_keeps_it(offline: list[str], tmp_path: Path) -> None:
    text = "".join(f"{name}: yes\n" for name in QUESTIONS if name != "venue")
    (tmp_path / "a.yaml").write_text(text + "venue: {answer: no, justification: a strong workshop}\n")
    assert main([*offline, "--answers", str(tmp_path / "a.yaml")]) == 0
    assert stored(tmp_path)["reasons"] == ["venue by exception: a strong workshop"]
    assert main(offline) == 0


@pytest.mark.parametrize(
    ("damaged", "why"),
    [
        ('{"questions": {"venue": {"answer": "yes"', "invalid JSON"),
        ("[]", "not as its schema says"),
        (
            '{"questions": {"venue": {"answer": "Yes", "justification": "a strong workshop"}}}',
            "Invalid enum value 'Yes'",
        ),
    ],
)
def test_answers_in_a_damaged_file_are_not_written_over(
    offline: list[str], tmp_path: Path, damaged: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vetting.json").write_text(damaged)
    assert main(offline) == 3
    shown = capsys.readouterr().err
    assert "vetting.json" in shown and why in shown and "hint: correct the file" in shown
    assert (tmp_path / "vetting.json").read_text() == damaged


def test_the_answers_for_one_paper_do_not_count_for_another(
    offline: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both are stored in vetting.json of the current folder, unless something else is said."""
    assert main([*offline, "--answer", "venue=yes"]) == 1
    before = (tmp_path / "vetting.json").read_bytes()
    other = list(offline)
    other[1] = str(make_paper(tmp_path / "other.pdf", "Another Paper"))
    make_repository(tmp_path / "other", {"eval.py": "x = 1\n"})
    other[other.index("--repo") + 1] = str(tmp_path / "other")
    capsys.readouterr()

    assert main(other) == 3

    told = " ".join(capsys.readouterr().err.split())
    assert "has the answers for another paper: Pairwise Wins" in told and "--out FILE" in told
    assert (tmp_path / "vetting.json").read_bytes() == before
    other[other.index("--repo") + 1] = offline[offline.index("--repo") + 1]
    assert main(other) == 1, "the same repository: a new version of the paper"
    assert b'"yes"' in (tmp_path / "vetting.json").read_bytes()


def test_a_forbidding_licence_is_a_stop_that_a_reason_overrides(offline: list[str], tmp_path: Path) -> None:
    (tmp_path / "code" / "LICENSE").unlink()
    make_repository(tmp_path / "bare", {"train.py": "x = 1\n"})
    offline[offline.index("--repo") + 1] = str(tmp_path / "bare")
    answers = [part for name in QUESTIONS for part in ("--answer", f"{name}=yes")]
    assert main([*offline, *answers]) == 1
    assert stored(tmp_path)["status"] == "rejected"
    assert "continue anyway (--override-licence)" in " ".join(stored(tmp_path)["reasons"])  # type: ignore[arg-type]
    assert main([*offline, "--override-licence", "the authors agreed by mail"]) == 0
    assert stored(tmp_path)["licence_override"] == "the authors agreed by mail"


def test_a_no_rejects_and_unsure_keeps_it_open() -> None:
    rejected = verdict({**YES, "reproducibility": VettingAnswer("no", "a survey")}, "", "")
    assert rejected == ("rejected", ("reproducibility: a survey",))
    assert verdict({**YES, "year": VettingAnswer("unsure", "no date")}, "", "")[0] == "open"


@pytest.mark.parametrize("licence", sorted({item["spdx"] for item in LICENCES}))
def test_every_licence_that_is_recognised_is_judged(licence: str) -> None:
    assert (licence in ALLOWED) != (licence in NO_CHANGES)
    assert bool(licence_stop(licence, "LICENSE")) == (licence in NO_CHANGES)


@pytest.mark.parametrize(
    ("licence", "file", "stops"),
    [("", "", True), ("", "LICENSE", False), ("EUPL-1.2", "", False), ("MIT", "", False)],
)
def test_only_no_licence_at_all_is_a_reason_by_itself(licence: str, file: str, stops: bool) -> None:
    assert ("all rights are reserved" in licence_stop(licence, file)) is stops


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("venue", "is no answer"),
        ("venue=maybe", "unknown answer 'maybe'"),
        ("venue=no", "needs a justification"),
        ("style=yes", "unknown question 'style'"),
    ],
)
def test_wrong_answers(
    offline: list[str], tmp_path: Path, given: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*offline, "--answer", given]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "vetting.json").exists()


def test_answers_files_that_are_none(tmp_path: Path) -> None:
    for text in ("- a\n", "a: [\n", "\xff", "venue: {answer: no, why: a workshop}\n"):
        (tmp_path / "a.yaml").write_text(text, "latin-1")
        with pytest.raises(UsageError):
            vet.read_answers(tmp_path / "a.yaml")

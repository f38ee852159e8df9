"""``vet`` as a whole: evidence, answers, verdict, and what is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from lmr_author.cli.app import main
from lmr_author.cli.vet import _ask
from lmr_author.errors import LmrError, UsageError
from lmr_author.repo.licences import SENTENCES
from lmr_author.vetting import evidence
from lmr_author.vetting.questions import (
    ALLOWED,
    NO_CHANGES,
    QUESTIONS,
    Answer,
    licence_stop,
    settled,
    verdict,
)
from lmr_author.workflow import vet, vet_records
from lmr_author.workflow.new_task_records import read_vetting
from tests.cli.program import validate_with
from tests.gitrepos import make_repository
from tests.papers import make_paper, make_scan

YES = {name: Answer("yes") for name in QUESTIONS}
MIT = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy.\n"
    'The software is provided "as is".\n'
)


@pytest.fixture
def offline(tmp_path: Path) -> list[str]:
    """The command line that vets a paper and a repository of this machine, without a network."""
    make_paper(
        tmp_path / "paper.pdf", body="Proceedings of ACL 2024\nAbstract\nA method.\n1 Introduction\n" * 3
    )
    make_repository(tmp_path / "code", {"train.py": "x = 1\n", "LICENSE": MIT, "README.md": "# Code\n"})
    return ["vet", str(tmp_path / "paper.pdf"), "--repo", str(tmp_path / "code"), "--offline",
            "--output", str(tmp_path / "vetting.json"), "--no-input"]  # fmt: skip


def stored(tmp_path: Path) -> dict[str, object]:
    """What was written, as its schema says."""
    data: dict[str, object] = json.loads((tmp_path / "vetting.json").read_text())
    validate_with("vetting", data)
    return data


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


def test_flags_answer_everything(offline: list[str], tmp_path: Path) -> None:
    answers = [part for name in QUESTIONS for part in ("--answer", f"{name}=yes: it is so")]
    assert main([*offline, *answers]) == 0
    assert stored(tmp_path)["status"] == "accepted"


def test_an_answers_file_in_yaml_and_a_second_run_keeps_it(offline: list[str], tmp_path: Path) -> None:
    text = "".join(f"{name}: yes\n" for name in QUESTIONS if name != "venue")
    (tmp_path / "a.yaml").write_text(text + "venue: {answer: no, justification: a strong workshop}\n")
    assert main([*offline, "--answers", str(tmp_path / "a.yaml")]) == 0
    assert stored(tmp_path)["reasons"] == ["venue by exception: a strong workshop"]
    assert main(offline) == 0


@pytest.mark.parametrize(
    ("damaged", "why"),
    [
        ('{"questions": {"venue": {"answer": "yes"', "not valid JSON"),
        ("[]", "not a JSON object"),
        ('{"questions": {"venue": "yes"}}', "not as its schema says"),
        ('{"licence_override": ["the lab has a contract"]}', "not as its schema says"),
        (
            '{"questions": {"venue": {"answer": "Yes", "justification": "a strong workshop"}}}',
            "'Yes' is none",
        ),
    ],
)
def test_answers_in_a_damaged_file_are_not_written_over(
    offline: list[str], tmp_path: Path, damaged: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vetting.json").write_text(damaged)
    assert main(offline) == 3
    shown = capsys.readouterr().err
    assert "vetting.json" in shown and why in shown and "correct the file by hand" in shown
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
    assert "has the answers for another paper: Pairwise Wins" in told and "--output FILE" in told
    assert (tmp_path / "vetting.json").read_bytes() == before
    other[other.index("--repo") + 1] = offline[offline.index("--repo") + 1]
    assert main(other) == 1, "the same repository: a new version of the paper"
    assert b'"yes"' in (tmp_path / "vetting.json").read_bytes()


def test_evidence_alone_gives_way_to_that_of_another_paper(offline: list[str], tmp_path: Path) -> None:
    assert main(offline) == 1
    make_paper(tmp_path / "paper.pdf", "Another Paper")
    make_repository(tmp_path / "other", {"eval.py": "x = 1\n"})
    offline[offline.index("--repo") + 1] = str(tmp_path / "other")
    assert main(offline) == 1
    assert stored(tmp_path)["paper"] == "Another Paper"


def test_a_forbidding_licence_is_a_stop_that_a_reason_overrides(offline: list[str], tmp_path: Path) -> None:
    (tmp_path / "code" / "LICENSE").unlink()
    make_repository(tmp_path / "bare", {"train.py": "x = 1\n"})
    offline[offline.index("--repo") + 1] = str(tmp_path / "bare")
    answers = [part for name in QUESTIONS for part in ("--answer", f"{name}=yes")]
    assert main([*offline, *answers]) == 1
    assert stored(tmp_path)["status"] == "rejected"
    assert main([*offline, "--override-licence", "the authors agreed by mail"]) == 0
    assert stored(tmp_path)["licence_override"] == "the authors agreed by mail"


@pytest.mark.parametrize(
    "name", ["methodological_focus", "reproducibility", "clarity_and_complexity", "year"]
)
def test_a_no_to_a_criterion_rejects(name: str) -> None:
    result = verdict({**YES, name: Answer("no", "a survey")}, "", "")
    assert (result.status, result.reasons) == ("rejected", (f"{name}: a survey",))


def test_unsure_keeps_it_open() -> None:
    assert verdict({**YES, "year": Answer("unsure", "no date")}, "", "").status == "open"


@pytest.mark.parametrize("licence", sorted({name for name, _ in SENTENCES}))
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
        ("venue=maybe", "the answer 'maybe' is none"),
        ("venue=no", "needs a justification"),
        ("style=yes", "there is no question 'style'"),
    ],
)
def test_wrong_answers(
    offline: list[str], tmp_path: Path, given: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*offline, "--answer", given]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "vetting.json").exists()


@pytest.mark.parametrize("kind", ["scan", "encrypted", "broken", "missing"])
def test_a_paper_that_cannot_be_read_is_a_note(offline: list[str], tmp_path: Path, kind: str) -> None:
    pdf = tmp_path / "paper.pdf"
    if kind == "scan":
        make_scan(pdf)
    elif kind == "encrypted":
        make_paper(pdf, encryption=4, user_pw="a", owner_pw="b")
    elif kind == "broken":
        pdf.write_bytes(b"%PDF-1.4 nothing")
    else:
        pdf.unlink()
    assert main(offline) == 1
    sources = stored(tmp_path)["sources"]
    assert isinstance(sources, list)
    assert sources[0]["name"] == "paper" and sources[0]["status"] == "failed" and sources[0]["note"]


def test_a_long_paper(offline: list[str], tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf", pages=200)
    assert main(offline) == 1
    questions = stored(tmp_path)["questions"]
    assert isinstance(questions, dict)
    assert "200 pages" in questions["clarity_and_complexity"]["evidence"]


def test_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LmrError, match="nothing to vet"):
        vet.gather(vet.VetOptions(str(tmp_path / "no.pdf"), offline=True), lambda message: None)


@pytest.mark.parametrize(
    ("paper", "note"), [("2305.18290", "not fetched: offline"), ("nowhere.pdf", "there is no such file")]
)
def test_offline_a_paper_that_would_be_fetched_and_one_that_is_not_there(
    offline: list[str], tmp_path: Path, paper: str, note: str
) -> None:
    offline[1] = paper
    assert main(offline) == 1
    sources = stored(tmp_path)["sources"]
    assert isinstance(sources, list) and note in sources[0]["note"]


def test_an_accepted_vetting_is_that_of_the_task(offline: list[str], tmp_path: Path) -> None:
    answers = [part for name in QUESTIONS for part in ("--answer", f"{name}=yes: it is so")]
    assert main([*offline, *answers]) == 0
    made = [
        "new-task",
        str(tmp_path / "paper.pdf"),
        "--repo",
        str(tmp_path / "code"),
        "--offline",
        "--no-input",
    ]
    assert main([*made, "--tasks-dir", str(tmp_path), "--vetting", str(tmp_path / "vetting.json")]) == 0
    (task,) = tmp_path.glob("1-*")
    assert json.loads((task / "authoring" / "vetting.json").read_bytes()) == stored(tmp_path)


def test_a_rejected_vetting_makes_no_task(offline: list[str], tmp_path: Path) -> None:
    main([*offline, "--answer", "year=no: from 1999"])
    with pytest.raises(LmrError, match="rejected: year: from 1999"):
        read_vetting(tmp_path / "vetting.json")
    (tmp_path / "vetting.json").write_text('{"status": "accepted"}')
    with pytest.raises(LmrError, match="questions"):
        read_vetting(tmp_path / "vetting.json")


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    """A keyboard: what is sent to it is typed."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def test_at_a_terminal_every_answer_is_stored_at_once_and_can_be_changed(keys: PipeInput) -> None:
    enter, down = "\r", "\x1b[B"
    keys.send_text(enter * 3)  # yes, no justification
    keys.send_text(
        down + enter + enter + "a workshop" + enter
    )  # venue: no; a reason is asked until there is one
    keys.send_text(enter)
    keys.send_text(down * 3 + enter + "MIT, as GitHub says" + enter)  # yes, and say why
    keys.send_text(down + enter)  # change the first answer
    keys.send_text(down * 2 + enter + "half a survey" + enter)
    keys.send_text(enter)  # done
    start = vet.Vetting("P", "R", "", {}, (), {}, "")
    saved: list[int] = []
    ended = _ask(start, lambda now: saved.append(len(now.answers)))

    assert saved == [1, 2, 3, 4, 5, 6, 6, 6]
    assert ended.answers["venue"] == Answer("no", "a workshop")
    assert ended.answers["license"] == Answer("yes", "MIT, as GitHub says")
    assert ended.answers["methodological_focus"] == Answer("unsure", "half a survey")


def test_what_the_evidence_answers_is_shown_and_not_asked(keys: PipeInput) -> None:
    known = settled("Proceedings of EMNLP 2024", 2024, "MIT", 2026)
    start = vet.Vetting("P", "R", "", {}, (), {}, "", settled=known)
    keys.send_text("\r" * 4)  # three criteria, then done
    ended = _ask(start, lambda now: None)
    assert ended.verdict.status == "accepted"
    assert ended.answers["venue"] == Answer("yes", "EMNLP: Proceedings of EMNLP 2024")
    assert ended.answers["license"] == Answer("yes", "MIT")


@pytest.mark.parametrize(
    ("venue", "year", "licence"),
    [("NeurIPS 2023", 2020, "CC-BY-ND-4.0"), ("", None, ""), ("a survey of ACLs", 2027, "mit")],
)
def test_only_a_sure_yes_is_settled(venue: str, year: int | None, licence: str) -> None:
    assert settled(venue, year, licence, 2026) == {}


def test_a_stop_asks_for_the_reason_to_go_on(keys: PipeInput) -> None:
    keys.send_text("\r" + "they agreed\r")
    start = vet.Vetting("P", "R", "", {}, (), YES, "no licence")
    assert _ask(start, lambda now: None).override == "they agreed"


def test_answers_files_that_are_none(tmp_path: Path) -> None:
    for text in ("- a\n", "a: [\n", "\xff"):
        (tmp_path / "a.yaml").write_text(text, "latin-1")
        with pytest.raises(UsageError):
            vet_records.read_answers(tmp_path / "a.yaml")


def said(question: str, *pages: str, venue: str = "") -> str:
    """What the paper's text says to a question."""
    facts = evidence.PaperFacts("Wins", pages, venue, 2024, "the arXiv id", ())
    return "\n".join(evidence.from_paper(facts, "", 2026)[question])


def test_an_abstract_is_shown_with_its_words_whole() -> None:
    abstract = "An un-\nsupervised low-\nresource method of e\ufb03cient state-of-the-\nart kind."
    shown = said(
        "methodological_focus",
        f"Wins\nAbstract\n{abstract}\n1 Introduction\n",
        "a low-resource, state-of-the-art thing",
    )
    assert "abstract: An unsupervised low-resource method of efficient state-of-the-art kind." in shown


def test_without_the_word_the_running_text_is_shown() -> None:
    page = "Wins\nJane Doe\n" + "Here a long enough line of the text begins, as it does.\n" * 4
    assert "abstract: Here a long enough line" in said("methodological_focus", page)
    assert "abstract" not in said("methodological_focus", "Wins\nJane Doe\n")


def test_equations_are_counted_by_their_numbers() -> None:
    page = "L = w + l (1)\nsee Equation (3)\nwhich all of the runs in the table show (9)\nx\n(4)\n"
    page += "ALGORITHM 1 Wins\nAlgorithm 2: Ties\n"
    assert "algorithm boxes: 2; numbered equations: 4" in said("methodological_focus", page)
    assert "numbered equations: 0" in said("methodological_focus", "none (17)\n")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Annual Meeting of the Association for Computational Linguistics, 2021", "ACL"),
        ("Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing", "EMNLP"),
        ("International Conference on Computational Linguistics (2020)", "COLING"),
    ],
)
def test_a_venue_in_full_is_one_of_the_benchmarks(line: str, name: str) -> None:
    assert f"{name} is one of the benchmark's venues" in said("venue", "x", venue=line)


def test_a_task_is_vetted_again_with_what_was_known_of_its_repository(
    offline: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = tmp_path / "paper.pdf"
    make_repository(tmp_path / "bare", {"train.py": "x = 1\n", "README.md": "# Code\n"})
    made = ["new-task", str(paper), "--repo", str(tmp_path / "bare"), "--tasks-dir", str(tmp_path / "tasks")]
    assert main([*made, "--repo-url", "https://github.com/some/code", "--offline", "--no-input"]) == 0
    task = next((tmp_path / "tasks").glob("1-*"))
    assert main(["vet", "--task", str(task), "--offline", "--no-input"]) == 1
    found = json.loads((task / "authoring" / "vetting.json").read_text())
    assert "1 Python files, 0 of them tests" in found["questions"]["clarity_and_complexity"]["evidence"]
    assert found["status"] == "rejected" and "no licence" in found["licence_stop"]
    assert main(["vet", "--task", str(task), "--offline", "--no-input"]) == 1
    again = json.loads((task / "authoring" / "vetting.json").read_text())
    assert again["questions"] == found["questions"], "nothing is told twice"

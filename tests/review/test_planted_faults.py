"""Faults, each planted in a copy of a finished task: the screen shows each beside the question that it concerns."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lmr_author.cli.review_screens import show_evidence
from lmr_author.core import files
from lmr_author.core.task import Task, TaskState, equivalents, evaluation, recording
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.proof.validation.run import checked
from lmr_author.release.reporting.report import report
from lmr_author.release.reporting.status import status_with
from lmr_author.release.review.checklist import QuestionEvidence, automatic_items
from lmr_author.release.review.evidence_of_questions import evidence_for, evidence_of, weaknesses
from lmr_author.release.review.evidence_of_tests import outcome_doubts, shown_cases
from lmr_author.release.review.under_test import read_task
from tests.support import STARTERS, starter

GOLDEN = "golden_files/select_golden.py"
RECORDING = "packing/unit_test/recordings/1/recording.json"


@pytest.fixture
def finished(tmp_path: Path) -> Task:
    """A finished task, without weak evidence but for code of our own, proven on a base image of our own."""
    return starter("4-demo-packing", tmp_path)


def seen(task: Task, question: str, capsys: pytest.CaptureFixture[str]) -> tuple[QuestionEvidence, str]:
    """The evidence for a question, and what the screen shows of it, on one line."""
    evidence = evidence_of(task, checked([task]).findings)[question]
    capsys.readouterr()
    show_evidence(evidence)
    return evidence, " ".join(capsys.readouterr().err.split())


def finished_cases(task: Task) -> tuple[recording.Case, ...]:
    loaded = recording.load(task.recording(task.load(), 1))
    assert loaded
    return loaded.cases


def change_info(task: Task, key: str, change: Callable[[Any], Any]) -> None:
    """Change the first implementation in info.json, or a key of the task."""
    data = json.loads(task.info_path.read_text("utf-8"))
    place = data if key in data else data["implementations"][0]
    place[key] = change(place[key])
    files.write_json(task.info_path, data)


def change_file(task: Task, path: str, old: str, new: str) -> None:
    """Replace a text that a file of the task contains."""
    file = task.root / path
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_a_sound_task_has_no_weak_evidence(finished: Task) -> None:
    evidence = evidence_of(finished, checked([finished]).findings)
    doubts = {name: one.doubts for name, one in evidence.items() if one.weak}
    assert doubts == {
        "core": ("no published commit has this code",),
        "environment": ("not proven on the Dockerfile's base image; ran on lmr-author/base:bookworm-torch",),
    }


def test_a_wrong_section(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_info(finished, "instruction", lambda text: text.replace("sections 2 and 3", "section 4"))
    evidence, screen = seen(finished, "paper-section", capsys)
    assert "Paper, section 4 (Experiment) Texts. Four topics have 40 made-up words each" in screen
    assert any("section 3 (Order) contains equation (5), algorithm 1" in doubt for doubt in evidence.doubts)
    change_info(finished, "instruction", lambda text: text.replace("section 4", "section 7"))
    assert "section 7 was not found in the PDF's text" in seen(finished, "paper-section", capsys)[0].doubts


def test_the_abstract_of_another_paper(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("paper.pdf", "paper.json"):
        shutil.copyfile(next((STARTERS / "9-two-way").glob(f"*/{name}")), finished.root / "packing" / name)
    evidence, _ = seen(finished, "core", capsys)
    assert any(doubt.startswith("LMR106") for doubt in evidence.doubts)


def test_a_wrong_category(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_info(finished, "category", lambda _: "Evaluation Metrics")
    _, screen = seen(finished, "category", capsys)
    assert "Evaluation Metrics: how good an output is" in screen
    assert "closer by its words: Prompt Engineering & Instruction Tuning, what a model is shown" in screen
    assert "the choice and the order of demonstrations" in screen
    page = report(finished.root, finished.root.parent / "page.html", lambda message: None).path
    doubt = "the function's words suggest Prompt Engineering & Instruction Tuning, not Evaluation Metrics"
    assert doubt in seen(finished, "category", capsys)[0].doubts
    assert f"Weak: {doubt}" in re.sub("<[^>]+>", "", html.unescape(page.read_text("utf-8")))


def test_a_weak_test(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    recording = json.loads((finished.root / RECORDING).read_text("utf-8"))
    recording["cases"] = recording["cases"][:1]
    recording["coverage"] |= {"missed": [69, 75], "lines": [40, 48, 50, 52, 57, 59, 64, 72]}
    files.write_json(finished.root / RECORDING, recording)
    evidence, screen = seen(finished, "tests", capsys)
    assert "there is only one case" in evidence.doubts
    assert "no case reaches 2 lines of the golden" in evidence.doubts
    assert "the task changed after its evaluation" in evidence.doubts
    assert "69 return ranked[::-1] ← not reached" in screen


def test_what_weakens_a_task_comes_first(finished: Task) -> None:
    data = json.loads((finished.root / RECORDING).read_text("utf-8"))
    data["coverage"] |= {"missed": [69], "lines": [40, 48, 50, 52, 57, 59, 64, 72, 75]}
    data["cases"][0]["checkers"] = {"value[0]": {"kind": "allclose", "rtol": 1e-7, "atol": 1e-9}}
    files.write_json(finished.root / RECORDING, data)
    reviewed = read_task(finished)
    found = weaknesses(reviewed, evidence_for(reviewed, checked([finished]).findings))
    by_text = {one.text: one for one in found}
    assert by_text["no case reaches 1 line of the golden"].place == "review-tests"
    assert by_text["no published commit has this code"].question == "core"
    assert "the widest tolerance is rtol 1e-07, atol 1e-09, for value[0]" in by_text
    survivors = next(text for text in by_text if "mutants of 100" in text or "mutant of 100" in text)
    assert by_text[survivors].place == "gate-1-mutants-die"


@pytest.mark.parametrize(
    ("path", "checker", "doubt"),
    [
        (
            "value[0]",
            {"kind": "allclose", "rtol": 0.5, "atol": 0.9, "reason": "as the annotator said"},
            "value[0] is compared with rtol 0.5, atol 0.9, where rtol 1.3e-06, atol 1e-05 is usual (no reason given)",
        ),
        (
            "value[1]",
            {"kind": "ignore", "reason": "it is only a log"},
            "value[1] is not compared (it is only a log)",
        ),
        ("*", {"kind": "ignore"}, "every part that is not named is not compared (no reason given)"),
        ("*.grad", {"kind": "ignore"}, ""),
        ("value[0]", {"kind": "allclose", "rtol": 1e-5, "atol": 1e-4, "reason": "as the annotator said"}, ""),
    ],
)
def test_a_comparison_that_shows_nothing(
    tmp_path: Path, path: str, checker: dict[str, Any], doubt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    task = starter("1-rating-margin", tmp_path)
    manifest = task.root / "prefopt/unit_test/recordings/1/recording.json"
    recording = json.loads(manifest.read_text("utf-8"))
    recording["cases"][0]["checkers"][path] = checker
    files.write_json(manifest, recording)
    evidence, screen = seen(task, "tests", capsys)
    compared = [one for one in evidence.doubts if "compared" in one]
    assert compared == ([doubt] if doubt else [])
    assert "How results are compared" in screen
    page = report(task.root, tmp_path / "page.html", lambda message: None).path.read_text("utf-8")
    assert "How results are compared" in page
    assert not doubt or doubt in html.unescape(page)


AWAY = (
    "Split texts into words; a cost is template plus the length. The gain is the sum over the asked words in "
    "the text of rarity times discount to the power of how often the word was shown. Skip a place that is "
    "chosen already, costs more than the budget, or whose gain is not positive. Alike is the largest overlap "
    "with a chosen text; even is one over one plus the label's count minus the smallest count. The score is "
    "gain over whole, minus redundancy times alike, plus balance times even, divided by the cost to the "
    "power. Keep the best place; stop when there is none. Take its cost off the budget, count its label, and "
    "count its words as shown. Then sort by relevance, largest first, reversed without valley; put every "
    "second one from the second on in front and the others reversed behind. Where three neighbours have one "
    "label, swap the middle one with the first later one of another label."
)


def test_an_instruction_that_tells_each_step(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_info(finished, "instruction", lambda _: AWAY)
    evidence, screen = seen(finished, "instruction", capsys)
    (doubt,) = [one for one in evidence.doubts if "gives the solution away" in one]
    assert "of 31 statements of the golden" in doubt and "it spells out" in screen


def test_outcomes_that_show_little(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    folder = finished.root / "packing/unit_test/recordings/1"
    assert not list(outcome_doubts({"case_1": "only zeros"}, finished_cases(finished))), "one of eight is few"
    assert list(outcome_doubts(dict.fromkeys(("case_1", "case_2"), "only zeros"), finished_cases(finished)))
    for number, value in enumerate([[], [0, 0], {"loss": 0.0}, [0], [0, 0, 0], False], 1):
        path = folder / f"case_{number}/expected.json"
        files.write_json(path, json.loads(path.read_text("utf-8")) | {"values": {"value": value}})
    evidence, screen = seen(finished, "tests", capsys)
    assert "5 of 8 cases expect nothing or only zeros" in evidence.doubts
    assert "case_3 expects only zeros" in screen and "case_6 expects" not in screen
    recording = json.loads((finished.root / RECORDING).read_text("utf-8"))
    for case in recording["cases"]:
        case["files"] |= {"expected.json": "0" * 64}
    files.write_json(finished.root / RECORDING, recording)
    assert "all 8 cases expect the same" in seen(finished, "tests", capsys)[0].doubts


def test_short_lists_of_the_inputs_are_shown_in_full(finished: Task) -> None:
    folder = finished.root / "packing/unit_test/recordings/1"
    for number, flags in enumerate([[True, False], [True, True], [[], True]], 1):
        path = folder / f"case_{number}/inputs.json"
        document = json.loads(path.read_text("utf-8"))
        document["values"]["flags"] = flags
        files.write_json(path, document)
    cases = [
        replace(
            case, summary={"flags": "list of 2"}, adds="1 mutant fails only here; flags: list… and 3 more"
        )
        for case in finished_cases(finished)[:3]
    ]
    shown = shown_cases(folder, cases)
    assert [case.summary["flags"] for case in shown] == ["[True, False]", "[True, True]", "list of 2"]
    assert shown[0].adds == "1 mutant fails only here; flags: [True, False]"


def test_an_instruction_is_shown_without_its_line_breaks(
    finished: Task, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "Return the places in the pool of the chosen demonstrations, in order,"
    change_info(finished, "instruction", lambda _: f"{long}\nof the prompt.\n- one item\n- another")
    lines = evidence_of(finished, [])["instruction"].pieces[0].lines
    assert lines[:3] == (f"{long} of the prompt.", "- one item", "- another")
    assert f"instruction: {long} of the prompt." in seen(finished, "instruction", capsys)[1]


def test_a_proof_on_another_base_image(finished: Task, tmp_path: Path) -> None:
    last, state = evaluation.load(finished), TaskState.of(finished)
    assert last
    last = replace(last, content_digest=state.content, running_digest=state.running)
    used = replace(last.sandbox, kind="docker", other_base_image="lab/base:1", torch="1.13.1+cu117")
    evaluation.store(finished, replace(last, sandbox=used, started="2027-01-01T00:00:00+00:00"))
    doubt = "not proven on the Dockerfile's base image; ran on lab/base:1"
    proven = evidence_of(finished, [])["environment"]
    assert doubt in proven.doubts and ("PyTorch", "1.13.1+cu117") in [
        row[:2] for row in proven.pieces[0].table
    ]
    assert doubt in status_with(finished, ()).note
    assert doubt in automatic_items(finished, [])[1].evidence
    page = report(finished.root, tmp_path / "page.html", lambda message: None).path.read_text("utf-8")
    assert html.unescape(page).count(doubt) >= 3, "the verdict, what to read first, and beside the question"


def test_a_wrong_return_in_the_golden(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_file(finished, GOLDEN, "    return order\n", "    return order[::-1]\n")
    _, screen = seen(finished, "instruction", capsys)
    assert "instruction: Return places in the pool, in the order of the prompt." in screen
    assert "line 76: return order[::-1]" in screen
    assert "the task changed after its evaluation" in seen(finished, "tests", capsys)[0].doubts


OTHER_NAMES = ("texts", "costs", "asked", "shown", "labels", "chosen", "place", "gain", "score", "budget")


@pytest.mark.parametrize("paraphrased", [False, True])
def test_a_leaked_copy(finished: Task, capsys: pytest.CaptureFixture[str], paraphrased: bool) -> None:
    source = (finished.root / GOLDEN).read_text("utf-8").replace("select_demonstrations", "old_pick")
    if paraphrased:  # other names, and the second half left out
        for name in OTHER_NAMES:
            source = re.sub(rf"\b{name}\b", f"{name[:2]}_x", source)
        source = source.partition("    relevance = ")[0] + "    return ch_x\n"
    (finished.root / "packing/packing/old.py").write_text(source, "utf-8")
    _, screen = seen(finished, "no-leak", capsys)
    share = re.search(r"(\d+)% of a golden: packing/old\.py:10 old_pick", screen)
    assert share is not None and int(share[1]) >= 40
    if not paraphrased:
        assert "LMR403 packing/packing/old.py" in screen


def test_a_licence_that_forbids(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    (finished.root / "packing/LICENSE").write_text("Copyright 2026 Somebody. All rights reserved.\n")
    evidence, screen = seen(finished, "licence", capsys)
    assert evidence.weak
    assert "info.json MIT LICENSE not recognised" in screen
    assert "LICENSE begins Copyright 2026 Somebody. All rights reserved." in screen
    (finished.root / "packing/LICENSE").unlink()
    evidence, _ = seen(finished, "licence", capsys)
    assert evidence.doubts == ("the repository has no licence: all rights are reserved",)


def test_a_wrong_year(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_info(finished, "year", lambda _: 2019)
    evidence, screen = seen(finished, "environment", capsys)
    assert "PyTorch is 7 years newer than the paper" in evidence.doubts
    assert "the paper is of 2019 in info.json, of 2026 in authoring/provenance.json" in evidence.doubts
    assert "PyTorch 2.13.0+cpu 2026-07-08 7 years newer" in screen


def test_an_accepted_mutant_that_is_a_real_mistake(
    finished: Task, capsys: pytest.CaptureFixture[str]
) -> None:
    diff = "-            if place in chosen or gain <= 0:\n+            if place in chosen or gain < 0:"
    target = str(finished.load().implementations[0].target)
    mutant = EquivalentMutant(target, "0badc0de", "it looks the same to me", "2026-02-07", "Ann Otator", diff)
    equivalents.add(finished, [mutant])
    evidence, screen = seen(finished, "tests", capsys)
    assert "1 mutant accepted as equivalent" in evidence.doubts
    assert "Accepted, but no survivor with this reason: 0badc0de, by Ann Otator, 2026-02-07" in screen
    assert "+ if place in chosen or gain < 0:" in screen


def test_a_wrong_context_file(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_info(finished, "retrieval_context", lambda _: ["packing/corpus.py"])
    evidence, screen = seen(finished, "instruction", capsys)
    assert "the golden uses nothing from the context file packing/corpus.py" in evidence.doubts
    assert "packing/corpus.py: the golden uses nothing from it" in screen
    corpus = finished.repository(finished.load()) / "packing/corpus.py"
    corpus.write_text(f"{corpus.read_text()}\nif True:\n    score = 1\nelse:\n    score = 2\n")
    evidence, screen = seen(finished, "instruction", capsys)
    assert "packing/corpus.py: the golden uses score" in screen


@pytest.mark.parametrize("quoted", [True, False])
def test_an_instruction_that_gives_the_solution_away(
    finished: Task, capsys: pytest.CaptureFixture[str], quoted: bool
) -> None:
    away = (
        " The gain is `sum(rare.get(word, 0.0) * discount ** shown[word] for word in asked & set(texts[place]))`."
        if quoted
        else " Keep the best place in `best` and its score in `most`, and leave the loop when `best` is None."
    )
    change_info(finished, "instruction", lambda text: text + away)
    evidence, screen = seen(finished, "instruction", capsys)
    assert " ".join(away.split()) in screen
    if quoted:
        assert any(doubt.startswith("LMR607") for doubt in evidence.doubts)
    else:
        assert "it names variables of the golden: best, most" in screen

"""Ten faults, each planted in a copy of a finished task: the screen shows each beside the question that it concerns."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lmr_author.cli.exhibits import show_evidence
from lmr_author.core import files
from lmr_author.core.task import Task, equivalents
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.proof.validation.run import checked
from lmr_author.release.review.evidence import evidence_of
from lmr_author.release.review.exhibits import QuestionEvidence

STARTER = Path(__file__).parents[2] / "tasks"
GOLDEN = "golden_files/select_golden.py"
RECORDING = "packing/unit_test/recordings/1/recording.json"


@pytest.fixture
def finished(tmp_path: Path) -> Task:
    """A copy of a finished task, with no weak evidence."""
    shutil.copytree(STARTER / "4-demo-packing", tmp_path / "4-demo-packing")
    return Task(tmp_path / "4-demo-packing")


def seen(task: Task, question: str, capsys: pytest.CaptureFixture[str]) -> tuple[QuestionEvidence, str]:
    """The evidence for a question, and what the screen shows of it, on one line."""
    evidence = evidence_of(task, checked([task]).findings)[question]
    capsys.readouterr()
    show_evidence(evidence)
    return evidence, " ".join(capsys.readouterr().err.split())


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
    assert doubts == {"core": ("no published commit has this code",)}, "the starter tasks are our own code"


def test_a_wrong_section(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_info(finished, "instruction", lambda text: text.replace("sections 2 and 3", "section 4"))
    evidence, screen = seen(finished, "paper-section", capsys)
    assert "Paper, section 4 (Experiment) Texts. Four topics have 40 made-up words each" in screen
    assert "section 3 (Order) has equation (5), algorithm 1, and is not named" in evidence.doubts

    change_info(finished, "instruction", lambda text: text.replace("section 4", "section 7"))
    assert "the paper has no section 7" in seen(finished, "paper-section", capsys)[0].doubts


def test_a_wrong_category(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_info(finished, "category", lambda _: "Evaluation Metrics")
    _, screen = seen(finished, "category", capsys)
    assert "Evaluation Metrics: how good an output is" in screen
    assert "by its words rather Prompt Engineering & Instruction Tuning: what a model is shown" in screen
    assert "the choice and the order of demonstrations" in screen


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


def test_a_wrong_return_in_the_golden(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_file(finished, GOLDEN, "    return order\n", "    return order[::-1]\n")
    _, screen = seen(finished, "instruction", capsys)
    assert "instruction: Return places in the pool, in the order of the prompt." in screen
    assert "line 76: return order[::-1]" in screen
    assert "the task changed after its evaluation" in seen(finished, "tests", capsys)[0].doubts


@pytest.mark.parametrize("paraphrased", [False, True])
def test_a_leaked_copy(finished: Task, capsys: pytest.CaptureFixture[str], paraphrased: bool) -> None:
    source = (finished.root / GOLDEN).read_text("utf-8").replace("select_demonstrations", "old_pick")
    if paraphrased:  # other names, and the second half left out
        for name in (
            "texts",
            "costs",
            "asked",
            "shown",
            "labels",
            "chosen",
            "place",
            "gain",
            "score",
            "budget",
        ):
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
    assert "PyTorch 2.10.0 2026-01-21 7 years newer" in screen


def test_an_accepted_mutant_that_is_a_real_mistake(
    finished: Task, capsys: pytest.CaptureFixture[str]
) -> None:
    diff = "-            if place in chosen or gain <= 0:\n+            if place in chosen or gain < 0:"
    target = str(finished.load().implementations[0].target)
    mutant = EquivalentMutant(target, "0badc0de", "looks the same", "2026-02-07", "Ann Otator", diff)
    equivalents.add(finished, [mutant])
    evidence, screen = seen(finished, "tests", capsys)
    assert "1 mutant accepted as equivalent" in evidence.doubts
    assert "Accepted as equivalent: 0badc0de, by Ann Otator, 2026-02-07 reason: looks the same" in screen
    assert "+ if place in chosen or gain < 0:" in screen


def test_a_wrong_context_file(finished: Task, capsys: pytest.CaptureFixture[str]) -> None:
    change_info(finished, "retrieval_context", lambda _: ["packing/corpus.py"])
    evidence, screen = seen(finished, "instruction", capsys)
    assert "the golden uses nothing of the context file packing/corpus.py" in evidence.doubts
    assert "packing/corpus.py: the golden uses nothing of it" in screen


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

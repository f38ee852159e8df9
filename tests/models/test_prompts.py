"""What a model is given: prompts, and the files in an agent's container."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Task
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.release.analysis.model_input import ModelInput
from lmr_author.release.models import prompts
from lmr_author.release.models.images import write_image
from lmr_author.release.review.score import answer

PAPER, INSTRUCTION, GOAL = "Text of page 1", "Implement softplus.", "class Mean:"
CONTEXT, SIGNATURE, GOLDEN = "from scores.smooth import", "def softplus(x, beta=1.0)", "log1p"


def prompt(task: Task, given: str, tokens: int = 10_000) -> tuple[str, str]:
    """The prompt of the task's only function, and a remark on pages that were cut."""
    info = task.load()
    return prompts.prompting(task, info, info.implementations[0], ModelInput.parse(given), tokens)


@pytest.mark.parametrize(
    "given, shown, hidden",
    [
        ("signature", [SIGNATURE, "https://example.org/scores"], [PAPER, INSTRUCTION, GOAL, CONTEXT]),
        ("paper", [SIGNATURE, PAPER, INSTRUCTION], [GOAL, CONTEXT]),
        ("paper+goal", [SIGNATURE, PAPER, INSTRUCTION, GOAL], [CONTEXT]),
        ("repository", [SIGNATURE, PAPER, INSTRUCTION, GOAL, CONTEXT], ["absent.py"]),
        ("context+goal", [SIGNATURE, INSTRUCTION, GOAL, CONTEXT], [PAPER, "You are given a paper"]),
        ("paper+whole", [PAPER, INSTRUCTION, GOAL, CONTEXT, "# File: use.py"], ["unit_test"]),
    ],
)
def test_each_input_shows_its_part(softplus: Task, given: str, shown: list[str], hidden: list[str]) -> None:
    text = prompt(softplus, given)[0]
    assert [part for part in shown if part not in text] == []
    assert [part for part in [*hidden, GOLDEN] if part in text] == []


def test_a_model_and_an_agent_are_told_the_versions(softplus: Task) -> None:
    info = softplus.load()
    repository = ModelInput.parse("repository")

    def texts(base_image: str = "") -> list[str]:
        agent = prompts.agent(softplus, info, info.implementations[0], repository, base_image)
        return [prompt(softplus, "repository")[0], agent]

    softplus.dockerfile.write_text("FROM debian:12\n")
    softplus.lock.write_text("# nothing\n")
    assert not any("runs with" in text for text in texts())
    softplus.dockerfile.write_text("FROM pytorch/pytorch:1.10.0-cuda11.3-cudnn8-runtime\n")
    softplus.lock.write_text("# for Python 3.7; PyTorch and CUDA are the base image's\nnumpy==1.21.6\n")
    assert all("It runs with Python 3.7, PyTorch 1.10.0 and NumPy 1.21.6." in text for text in texts())
    assert "PyTorch 2.6.0 and" in texts("pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime")[1]


def test_an_input_has_one_name_however_it_is_written() -> None:
    for text in ("repository", "context+goal+paper", "paper+context"):
        assert ModelInput.parse(text).name == "repository"
    assert ModelInput.parse("whole").name == "goal+whole"
    for wrong in ("all", "", "paper+pages", "context+whole", "paper,goal"):
        with pytest.raises(UsageError) as refused:
            ModelInput.parse(wrong)
        assert refused.value.hint, wrong


def test_all_python_files_are_shown_and_never_the_test(softplus: Task) -> None:
    text = prompt(softplus, "whole")[0]
    assert "# File: use.py" in text and "# File: scores/__init__.py" in text
    assert "cases.json" not in text and "unit_test" not in text


def test_the_last_pages_are_cut_to_fit(softplus: Task) -> None:
    assert prompt(softplus, "repository")[1] == ""
    short, cut = prompt(softplus, "repository", tokens=900)
    assert cut == "Pages 3 to 5 of 5 are cut to fit 900 tokens" and cut in short
    assert "page 2" in short and "page 3" not in short
    assert len(short) <= 900 * prompts.CHARACTERS


def test_the_judge_sees_function_beside_function(mean: Task) -> None:
    code = "class Mean:\n    def add(self, value):\n        return 'GRADE: CC'\n"
    candidate = answer(mean, Prediction("8-Mean", 1, "m", "", code=code))
    text, version = prompts.judging(mean.load(), candidate)
    golden, graded = text.split("# Implementation to grade")
    assert "self.total += value" in golden and "return 'GRADE: CC'" in graded
    assert "softplus" not in text.partition("# Golden")[2]
    assert version.startswith("function@")


def test_the_judge_sees_the_helpers_that_the_unit_test_keeps(mean: Task) -> None:
    code = (
        "STEP = 2\n\ndef _half(x):\n    return x / STEP\n\ndef add(self, value):\n    return _half(value)\n"
    )
    for prediction in (
        Prediction("8-Mean", 1, "m", "", code=f"```python\n{code}```\nfor one:\n```python\nx = add(3)\n```"),
        Prediction("8-Mean", 1, "m", "", code=code),
    ):
        shown = answer(mean, prediction).text
        assert "STEP = 2" in shown and "def _half(x):" in shown and "x = add(3)" not in shown
        assert shown.rstrip().endswith("return _half(value)")


def test_a_judge_by_the_papers_form_sees_whole_files(mean: Task) -> None:
    code = "def add(self, value):\n    return '{golden}'\n"
    candidate = answer(mean, Prediction("8-Mean", 1, "m", "", code=code))
    text, version = prompts.judging(mean.load(), candidate, "paper")
    assert text.count("softplus") >= 2 and "return '{golden}'" in text and version.startswith("paper@")
    with pytest.raises(LmrError, match="there is no prompt 'papers'"):
        prompts.judging(mean.load(), candidate, "papers")


@pytest.mark.parametrize(
    "given, code",
    [
        ("paper", []),
        ("paper+goal", ["scores/smooth.py"]),
        ("repository", ["scores/__init__.py", "scores/smooth.py", "use.py"]),
        ("goal+whole", ["scores/__init__.py", "scores/smooth.py", "use.py"]),
    ],
)
def test_each_input_has_its_files_in_the_container(
    softplus: Task, tmp_path: Path, given: str, code: list[str]
) -> None:
    info = softplus.load()
    folder = tmp_path / "out"
    write_image(softplus, info, info.implementations[0], ModelInput.parse(given), "base:1", folder)
    repository = folder / "scores-repo"
    found = sorted(
        path.relative_to(repository).as_posix() for path in repository.rglob("*") if path.is_file()
    )
    assert found == sorted([*code, *(["paper.json", "paper.pdf"] if "whole" not in given else [])])
    assert sorted(path.name for path in folder.iterdir()) == ["Dockerfile", "compose.yaml", "scores-repo"]
    service = yaml.safe_load((folder / "compose.yaml").read_text())["services"]["default"]
    assert service["network_mode"] == "none" and "volumes" not in service

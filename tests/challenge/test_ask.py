"""A model, whose replies are a script, writes misreadings and rewrites: what it is asked, and what is kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import inspect_ai.model
import pytest
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage

from lmr_author.cli.app import main
from lmr_author.core.task import Task
from lmr_author.release.challenge.ask import REPLIES, versions

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tasks" / "1-rating-margin"
ANSWERS = ROOT / "templates" / "starter" / "1-rating-margin" / "answers" / "1"
MODEL = "mockllm/scripted"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Inspect AI's own

Script = Callable[[Sequence[str]], None]


def section(name: str, about: str, answer: str) -> str:
    return f"=== {name}\n{about}\n```python\n{(ANSWERS / answer).read_text()}```\n"


MISREADINGS = "Here they are.\n\n" + section(
    "Constant margin", "Equation (2) has a fixed margin.", "misread.py"
)
REWRITES = section("rewritten", "Powers and clamps.", "rewritten.py")


@pytest.fixture
def task(tmp_path: Path) -> Task:
    shutil.copytree(EXAMPLE, tmp_path / EXAMPLE.name)
    return Task(tmp_path / EXAMPLE.name)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The conversations with the model so far."""
    return []


@pytest.fixture
def says(asked: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> Script:
    """Set what the model says, reply by reply; it raises when there is no more."""
    plain = inspect_ai.model.get_model

    def script(replies: Sequence[str]) -> None:
        waiting = list(replies)

        def say(messages: list[ChatMessage], *_: Any) -> ModelOutput:
            asked.append([message.text for message in messages])
            output = ModelOutput.from_content(MODEL, waiting.pop(0))
            # Without it Inspect counts tokens, with a tokenizer that it downloads.
            output.usage = ModelUsage(input_tokens=7, output_tokens=11, total_tokens=18)
            return output

        def scripted(name: str, **options: Any) -> Any:
            return plain(name, custom_outputs=say, memoize=False, **options)

        monkeypatch.setattr(inspect_ai.model, "get_model", scripted)

    return script


def challenge(task: Task, *words: str, model: str = MODEL) -> int:
    return main(["challenge", str(task.root), "--model", model, *words])


def answers(task: Task) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in json.loads(task.challenge_path.read_text())["answers"]}


@pytest.mark.bwrap
def test_what_a_model_writes_is_run_kept_and_asked_for_once(
    task: Task, says: Script, asked: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    says([MISREADINGS, REWRITES])
    assert challenge(task) == 0
    said = capsys.readouterr()
    assert "2 requests to mockllm/scripted: about " in said.err and "at most 32,000 to write" in said.err
    found = answers(task)
    assert {name: (one["kind"], one["ending"]) for name, one in found.items()} == {
        "constant-margin": ("misreading", "fails"),
        "rewritten": ("rewrite", "passes"),
    }
    assert found["constant-margin"]["about"] == "Equation (2) has a fixed margin."
    assert found["constant-margin"]["source"] == MODEL
    kept = sorted((task.authoring / REPLIES).iterdir())
    assert [json.loads(path.read_text())["text"] for path in kept] == [MISREADINGS, REWRITES]
    assert [json.loads(path.read_text())["output_tokens"] for path in kept] == [11, 11]
    misreading, rewrite = (conversation[0] for conversation in asked)
    golden = (task.root / "golden_files" / "losses_golden.py").read_text()
    for prompt in (misreading, rewrite):
        assert "def rating_margin_loss(" in prompt and task.load().implementations[0].instruction in prompt
        assert "length_power" in golden and "Page 1" in prompt and "prefopt/model.py" in prompt
    assert "Write 6 misreadings" in misreading and "Write 2 rewrites" in rewrite

    says([])
    assert challenge(task) == 0
    assert "request" not in capsys.readouterr().err and len(asked) == 2


@pytest.mark.bwrap
def test_a_reply_that_cannot_be_read_is_asked_for_once_more(
    task: Task, says: Script, asked: list[list[str]]
) -> None:
    says(["I cannot do that.", MISREADINGS, REWRITES])
    assert challenge(task) == 0
    assert len(asked) == 3 and "=== short-name" in asked[1][-1]
    assert answers(task)["constant-margin"]["ending"] == "fails"


def test_a_model_that_never_writes_a_version_is_named(
    task: Task, says: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    says(["No.", "No.", "No.", "No."])
    assert challenge(task) == 3
    assert f"{MODEL} wrote no version that can be read" in capsys.readouterr().err
    assert not task.challenge_path.exists()


def test_a_model_that_fails_in_the_middle_loses_nothing(
    task: Task, says: Script, asked: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    says([MISREADINGS])
    assert challenge(task) == 3
    assert "gave no answer" in capsys.readouterr().err
    says([REWRITES])
    assert challenge(task) == 0
    assert list(answers(task)) == ["constant-margin", "rewritten"]
    assert len(asked) == 3, "the first request is not repeated"


def test_an_unknown_model_is_a_clear_error(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    assert challenge(task, model="nobody/nothing") == 3
    said = capsys.readouterr().err
    assert "nobody/nothing gave no answer" in said and "check the name" in said


@pytest.mark.bwrap
def test_names_of_other_answers_are_not_taken(task: Task, says: Script, tmp_path: Path) -> None:
    for kind, name in (("misreadings", "constant-margin"), ("rewrites", "rewritten")):
        (tmp_path / "own" / kind).mkdir(parents=True)
        answer = "misread.py" if kind == "misreadings" else "rewritten.py"
        shutil.copyfile(ANSWERS / answer, tmp_path / "own" / kind / f"{name}.py")
    assert main(["challenge", str(task.root), "--answers", str(tmp_path / "own")]) == 0
    says([MISREADINGS, REWRITES])
    assert challenge(task) == 0
    assert sorted(answers(task)) == ["constant-margin", "constant-margin-2", "rewritten", "rewritten-2"]


def test_code_with_lines_like_names_stays_whole() -> None:
    code = "~~~python\nx = '''\n=== not a name\n'''\n~~~\n"
    reply = f"=== first ===\nOne\nsentence.\n{code}=== empty\n\n=== last\n```\ny = 2\n```"
    assert list(versions(reply)) == [("first", "One sentence.", code), ("last", "", "```\ny = 2\n```\n")]

"""A model, whose replies are a script, writes misreadings and rewrites: what it is asked, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import inspect_ai.model
import pytest
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage

from lmr_author.cli.app import main
from lmr_author.core.task import Task
from lmr_author.release.challenge.ask import REPLIES, versions
from tests.challenge import made
from tests.challenge.conftest import Challenged
from tests.challenge.made import answer
from tests.evaluation.foreign import PLAIN

MODEL = "mockllm/scripted"
ONE, OTHER = {"floor": made.MISREADINGS["floor"]}, {"loop": made.REWRITES["loop"]}

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Inspect AI's own

Script = Callable[[Sequence[str]], None]


def reply(texts: dict[str, str]) -> str:
    """What a model writes: the answers in its form, their comments as sentences."""
    sections = []
    for name, text in texts.items():
        about = " ".join(line[2:] for line in text.splitlines() if line.startswith("#"))
        sections.append(f"=== {name}\n{about or 'Something.'}\n```python\n{made.as_function(text)}```\n")
    return "Here they are.\n\n" + "\n".join(sections)


@pytest.fixture
def task(tmp_path: Path, challenged: Challenged) -> Task:
    return challenged.copy(tmp_path, "fresh")


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


def challenge(task: Task, *words: str) -> int:
    return main(["challenge", str(task.root), *PLAIN.options, *words])


def answers(task: Task) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in json.loads(task.challenge_path.read_text())["answers"]}


@pytest.mark.bwrap
def test_what_a_model_writes_ends_as_other_answers_do_and_is_asked_for_once(
    task: Task,
    challenged: Challenged,
    says: Script,
    asked: list[list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ("floor", "negative-step", "not-python", "loop", "rounded")
    texts = [
        {name: some[name] for name in names if name in some} for some in (made.MISREADINGS, made.REWRITES)
    ]
    replies = [reply(some) for some in texts]
    says(replies)
    assert challenge(task, "--model", MODEL) == 1
    said = capsys.readouterr().err
    assert "2 requests to mockllm/scripted: about " in said and "at most 32,000 to write" in said
    found = answers(task)
    expected = {name: answer(challenged.before, name).ending.value for name in names}
    assert {name: one["ending"] for name, one in found.items()} == expected
    assert (found["floor"]["about"], found["floor"]["source"]) == ("Down in place of to the nearest.", MODEL)
    kept = [json.loads(path.read_text()) for path in sorted((task.authoring / REPLIES).iterdir())]
    assert [one["text"] for one in kept] == replies
    misreading, rewrite = (conversation[0] for conversation in asked)
    for prompt in (misreading, rewrite):
        assert "round(value / step) * step" in prompt, "the original"
        assert task.load().implementations[0].instruction in prompt and "## Page 1" in prompt
    assert "Write 6 misreadings" in misreading and "Write 2 rewrites" in rewrite

    says([])
    assert challenge(task, "--model", MODEL) == 1
    assert "request" not in capsys.readouterr().err and len(asked) == 2


@pytest.mark.bwrap
def test_a_reply_that_cannot_be_read_is_not_kept(
    task: Task, says: Script, asked: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    says(["I cannot do that."])
    assert challenge(task, "--model", MODEL) == 3
    assert f"{MODEL} wrote no readable version: I cannot do that." in capsys.readouterr().err
    assert not task.challenge_path.exists()
    says([reply(ONE), reply(OTHER)])
    assert challenge(task, "--model", MODEL) == 0
    assert len(asked) == 3 and answers(task)["floor"]["ending"] == "fails"


@pytest.mark.bwrap
def test_a_model_that_fails_in_the_middle_loses_nothing(
    task: Task, says: Script, asked: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    says([reply(ONE)])
    assert challenge(task, "--model", MODEL) == 3
    assert "gave no answer" in capsys.readouterr().err
    says([reply(OTHER)])
    assert challenge(task, "--model", MODEL) == 0
    assert list(answers(task)) == ["floor", "loop"]
    assert len(asked) == 3, "the first request is not repeated"


def test_an_unknown_model_is_a_clear_error(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    assert challenge(task, "--model", "nobody/nothing") == 3
    said = capsys.readouterr().err
    assert "nobody/nothing gave no answer" in said and "check the model's name" in said


@pytest.mark.bwrap
def test_names_of_other_answers_are_not_taken(challenged: Challenged, tmp_path: Path, says: Script) -> None:
    task = challenged.copy(tmp_path)
    says([reply(ONE), reply(OTHER)])
    assert challenge(task, "--model", MODEL) == 1
    sources = {name: one["source"] for name, one in answers(task).items()}
    assert (sources["floor"], sources["floor-2"], sources["loop-2"]) == ("answers", MODEL, MODEL)


def test_code_with_lines_like_names_stays_whole() -> None:
    code = "~~~python\nx = '''\n=== not a name\n'''\n~~~\n"
    text = f"=== first ===\nOne\nsentence.\n{code}=== empty\n\n=== last\n```\ny = 2\n```"
    assert list(versions(text)) == [("first", "One sentence.", code), ("last", "", "```\ny = 2\n```\n")]

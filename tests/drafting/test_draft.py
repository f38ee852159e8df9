"""A scripted model behind a real server drafts a recipe: every way in which a draft can end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from lmr_author.cli.app import main
from lmr_author.core.task import Task
from lmr_author.proof.evaluation import exploring
from lmr_author.release.drafting import rounds
from lmr_author.release.recipes.make import make_one
from tests.cli import forked
from tests.cli.program import ENVIRONMENT, PROGRAM, lmr_forked
from tests.drafting.chat_server import Reply, served
from tests.gitrepos import git, make_repository
from tests.papers import ABSTRACT, make_paper
from tests.recipes.recipes import CODE, DRIVER, INSTRUCTION, MISREAD, REWRITTEN

pytestmark = [pytest.mark.bwrap, pytest.mark.timeout(300)]
URL = "https://example.org/steps"


def clamp(expression: str) -> str:
    """The target with another element of the list that it returns."""
    return f"def clamp(values, low, high):\n    return [{expression}]\n"


WRONG = {
    "drops": MISREAD,
    "only-low": clamp("max(value, low) for value in values"),
    "only-high": clamp("min(value, high) for value in values"),
    "swapped": clamp("low if value > high else high if value < low else value for value in values"),
    "backwards": clamp("min(max(value, low), high) for value in reversed(values)"),
    "zeroes": clamp("value if low <= value <= high else 0 for value in values"),
}
RIGHT = {
    "chosen": REWRITTEN,
    "sorted": clamp("sorted((low, value, high))[1] if low <= high else high for value in values"),
}
QUOTE = "Values are clamped to the range from low to high."
LEDGER = [{"relation": "implements", "quote": QUOTE, "where": "section 2", "lines": "7-9"}]


def write(path: str, text: str) -> tuple[str, dict[str, str]]:
    return "write_recipe", {"path": path, "text": text}


def recipe(place: Path, **record: Any) -> tuple[str, dict[str, str]]:
    """The call that writes recipe.yaml: what was given, and a target."""
    given = yaml.safe_load((place / "recipes/.drafts/steps/recipe/recipe.yaml").read_text())
    answers = {name: {"outcome": "failed", "kind": "misreading"} for name in WRONG}
    answers |= {name: {"outcome": "passed", "kind": "rewrite"} for name in RIGHT}
    target = {
        "target": "steps/core.py::clamp",
        "category": "Evaluation Metrics",
        "instruction": INSTRUCTION,
        "record": {"command": "python driver.py", **record},
        "answers": answers,
    }
    given["paper"] |= {"title": "Steps of a Filter", "year": 2024, "url": "https://example.org/p"}
    return write("recipe.yaml", yaml.safe_dump({**given, "targets": [target]}))


def everything(place: Path) -> list[tuple[str, Any]]:
    """The calls that write a sound recipe."""
    answers = [write(f"answers/1/{name}.py", code) for name, code in {**WRONG, **RIGHT}.items()]
    ledger = write("ledger.yaml", yaml.safe_dump(LEDGER))
    return [recipe(place), write("driver.py", DRIVER), *answers, ledger, ("make", {})]


class Model:
    """Replies by a script; what it was asked is kept. A reply may be made when it is asked for."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: dict[str, Any]) -> Reply:
        self.requests.append(request)
        number = len(self.requests) - 1
        reply = self.replies[number] if number < len(self.replies) else {"text": "Well."}
        made: Reply = reply() if callable(reply) else reply
        return made

    def told(self, request: int) -> str:
        """What tools answered last, before a request."""
        messages = self.requests[request]["messages"]
        last = max(number for number, message in enumerate(messages) if message["role"] == "assistant")
        return "\n".join(str(message["content"]) for message in messages[last + 1 :])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a paper and a clone of its repository."""
    code = {
        "steps/core.py": CODE,
        "steps/__init__.py": "",
        "README.md": "# Steps\n",
        "LICENSE": "MIT License\n",
    }
    make_repository(tmp_path / "clone", {**code, "requirements.txt": ""})
    make_paper(tmp_path / "paper.pdf", "Steps of a Filter", body=f"{ABSTRACT}\n2 Steps\n{QUOTE}")
    return tmp_path


WORDS = ("draft", "paper.pdf", "--repo", URL, "--clone", f"{URL}=clone", "--model", "openai-api/scripted/one")
PLAIN = ("--python", os.path.realpath(sys.executable))


@contextmanager
def scripted(model: Model) -> Iterator[dict[str, str]]:
    """Serve a model; yield the variables by which it is found."""
    with served(model) as address:
        yield {"SCRIPTED_API_KEY": "none", "SCRIPTED_BASE_URL": address}


def draft(place: Path, model: Model, *options: str, code: int) -> str:
    with scripted(model) as variables:
        done = lmr_forked(*WORDS, *PLAIN, *options, cwd=place, env=variables)
    assert done.code == code, done.out + done.err
    return " ".join(done.out.split())


def calls(*each: tuple[str, Any]) -> Reply:
    return {"text": "", "calls": each}


def makes_in_its_own_process(*arguments: Any) -> None:
    """A forked command without the start of another process, which would not know that no calls are generated."""
    rounds.in_a_process = make_one
    exploring.MOST_OF_ANSWER = 0
    forked._as_command(*arguments)


def test_a_model_drafts_a_sound_task(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "_as_command", makes_in_its_own_process)
    model = Model(
        calls(("read_pages", {"first": 1, "last": 1}), ("read_file", {"path": "steps/core.py"})),
        lambda: calls(recipe(place, seconds=0.1), ("make", {"to": "record"})),
        lambda: calls(*everything(place)),
    )
    out = draft(place, model, code=0)
    assert "the task is sound; nobody has confirmed it yet" in out
    assert "1 round, 3,000 tokens" in out
    first = json.dumps(model.requests[0]["messages"])
    assert "steps/core.py::clamp" in first and "section 2 (Steps)" in first
    assert QUOTE in model.told(1) and "def clamp" in model.told(1)
    assert "targets[0].record.seconds" in model.told(2)
    assert len(model.requests) == 3
    folder = place / "recipes/1-steps"
    drafted = json.loads((folder / "drafted.json").read_text())
    assert drafted["model"] == "openai-api/scripted/one"
    task = Task(place / "tasks/1-steps")
    assert json.loads((task.authoring / "drafted.json").read_text()) == drafted
    commit = git(place / "clone", "rev-parse", "HEAD")
    assert (
        task.load().repo_commit
        == commit
        == yaml.safe_load((folder / "recipe.yaml").read_text())["repository"]["commit"]
    )

    again = Model()
    assert "the task is sound" in draft(place, again, code=0)
    assert not again.requests


@pytest.mark.parametrize(
    ("replies", "options", "said", "requests"),
    [
        (
            [calls(("give_up", {"reason": "It only calls a library."}))],
            (),
            "gave up: It only calls a library.",
            1,
        ),
        ([{"text": "I cannot help.", "refused": True}], (), "refused to answer: I cannot help.", 1),
        ([{"text": "Let me think."}] * 3, (), "no longer used its tools: Let me think.", 3),
        ([calls(("list_files", {}))] * 3, ("--tokens", "1500"), "it reached the limit of tokens", 2),
        ([{"status": 401}], (), "it stopped: AuthenticationError", 1),
    ],
    ids=["gives up", "refuses", "silent", "tokens", "no key"],
)
def test_a_draft_ends_with_a_sentence(
    replies: Sequence[Reply], options: Sequence[str], said: str, requests: int, place: Path
) -> None:
    model = Model(*replies)
    assert said in draft(place, model, *options, code=1)
    assert len(model.requests) == requests
    assert (place / "recipes/.drafts/steps/recipe/recipe.yaml").is_file()
    assert not (place / "recipes/1-steps").exists()


def test_what_ran_is_a_round_and_rounds_are_limited(place: Path) -> None:
    nothing = calls(("make", {}))
    source = [("make", {"to": "source"})]
    model = Model(nothing, lambda: calls(*everything(place)[:-1], *source), nothing)
    assert "it reached the limit of rounds" in draft(place, model, "--rounds", "1", code=1)
    assert len(model.requests) == 2 and '"rounds_left": 1' in model.told(1)


def test_what_a_model_may_not_do_is_answered_and_not_done(place: Path) -> None:
    (place / "secret.txt").write_text("secret words")
    misuse: list[tuple[tuple[str, Any], str]] = [
        (write("../../../../secret.txt", "x"), "not a file that you may write"),
        (write("drafted.json", "{}"), "not a file that you may write"),
        (write("accepted.json", "{}"), "not a file that you may write"),
        (write("equivalent-mutants.json", "{}"), "not a file that you may write"),
        (write("data/../../state.json", "{}"), "does not stay inside"),
        (("read_file", {"path": "../../../../secret.txt"}), "does not stay inside"),
        (("read_file", {"path": "/etc/passwd"}), "does not stay inside"),
        (("read_file", {"path": "steps"}), "there is no text file"),
        (("read_pages", {"first": 7, "last": 9}), "no pages 7 to 9"),
        (("look_at_page", {"number": 7}), "no page 7"),
        (("search_files", {"words": " "}), "nothing to look for"),
        (("remove_recipe", {"path": "drafted.json"}), "may remove"),
        (("make", {"to": "glory"}), "there is no stage 'glory'"),
        (("bash", {"command": "cat secret.txt"}), "bash"),
        (("read_file", "{not json"), "Error"),
        (("read_file", {"file": "steps/core.py"}), "path"),
    ]
    model = Model(*(calls(call) for call, _ in misuse), calls(("give_up", {"reason": "enough"})))
    assert "gave up: enough" in draft(place, model, code=1)
    for number, (call, said) in enumerate(misuse, 1):
        assert said in model.told(number), call
        assert "secret words" not in model.told(number)
    assert (place / "secret.txt").read_text() == "secret words"


def test_what_is_given_stays_as_it_is(place: Path) -> None:
    def other_code() -> Reply:
        _, given = recipe(place)
        data = yaml.safe_load(given["text"])
        data["repository"]["url"] = "https://example.org/other"
        return calls(write("recipe.yaml", yaml.safe_dump(data)), *everything(place)[1:])

    model = Model(other_code, calls(("give_up", {"reason": "enough"})))
    draft(place, model, code=1)
    assert "repository.url" in model.told(1) and URL in model.told(1)
    assert not (place / "tasks").exists()


def test_a_killed_draft_goes_on_and_asks_nothing_twice(place: Path) -> None:
    def slow() -> Reply:
        time.sleep(60)
        return {"text": "too late"}

    looked = calls(("read_file", {"path": "steps/core.py"}))
    before = Model(looked, slow)
    with scripted(before) as variables:
        process = subprocess.Popen(
            [*PROGRAM, *WORDS, *PLAIN], cwd=place, env={**ENVIRONMENT, **variables}, start_new_session=True
        )
        while len(before.requests) < 2:
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    after = Model(calls(("give_up", {"reason": "enough"})))
    assert "gave up: enough" in draft(place, after, code=1)
    assert "def clamp" in after.told(0)
    assert len(after.requests) == 1


def test_several_papers_are_drafted_each_on_its_own(place: Path) -> None:
    (place / "list.txt").write_text(f"# two\npaper.pdf {URL}\nnone.pdf https://example.org/other\n")
    model = Model(calls(("give_up", {"reason": "enough"})))
    words = ("draft", "--list", "list.txt", *WORDS[4:], *PLAIN, "--format", "json")
    with scripted(model) as variables:
        done = lmr_forked(*words, cwd=place, env=variables)
    assert done.code == 1, done.err
    first, second = done.json()["drafts"]
    assert first["draft"]["ending"] == "gave-up" and first["recipe"] == "recipes/.drafts/steps/recipe"
    assert second["draft"] is None and "none.pdf" in second["problem"] and second["hint"]


def test_a_model_without_a_key_or_a_repository_without_an_address_is_named(tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf", "Steps of a Filter", body=ABSTRACT)
    make_repository(tmp_path / "clone")
    for model, repo, said in (
        ("openai-api/scripted/one", URL, "SCRIPTED_API_KEY"),
        ("nonsense/one", URL, "nonsense"),
        ("mockllm/model", "./clone", "--clone URL=./clone"),
    ):
        done = lmr_forked("draft", "paper.pdf", "--repo", repo, "--model", model, cwd=tmp_path)
        assert done.code in (1, 3) and said in " ".join((done.out + done.err).split())
        assert "[bold]" not in done.err and not (tmp_path / "recipes").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2305.18290\n", "list.txt:1: not PAPER URL [COMMIT]"),
        ("# none\n", "names no paper"),
        ("# two\n'open URL\n", "list.txt:2: No closing quotation"),
    ],
)
def test_a_list_that_is_none_is_named_by_its_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.txt").write_text(text)
    assert main(["draft", "--list", str(tmp_path / "list.txt"), "--model", "none/none"]) == 2
    assert said in " ".join(capsys.readouterr().err.split())

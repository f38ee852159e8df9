"""The program itself: its verbs, their help, its version, and what it costs to start."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import lmr_author
from lmr_author.authoring.new_task.fields import FIELDS
from lmr_author.authoring.vetting.questions import QUESTIONS
from lmr_author.cli.app import ENV_COMMANDS, VERBS, command, run
from lmr_author.cli.commands import read_examples
from lmr_author.cli.explain import GATES
from lmr_author.core.errors import UsageError
from lmr_author.core.task import CATEGORIES
from tests.cli.conftest import GATES as SHOWN_GATES
from tests.cli.program import ENVIRONMENT, lmr, lmr_forked, succeed
from tests.support import make_task

HEAVY = (
    "docker", "pymupdf", "fitz", "libcst", "git", "jsonschema", "httpx", "numpy", "jinja2", "rich",
    "questionary", "prompt_toolkit", "torch", "yaml", "pydantic",
)  # fmt: skip


def test_help_lists_every_verb(tmp_path: Path) -> None:
    done = succeed("--help", cwd=tmp_path)
    listed = re.findall(r"^  ([a-z][a-z-]*) ", done.out.partition("\nAuthor:")[2], re.MULTILINE)
    assert listed == list(VERBS)
    assert [line for line in done.out.splitlines() if len(line) > 80] == []


COMMANDS = [*(verb for verb in VERBS if verb != "env"), *(f"env {name}" for name in ENV_COMMANDS)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_two_examples_that_parse(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    group, _, one = name.partition(" ")
    made = command(group).load(one) if one else command(name)
    examples = read_examples()[name]
    assert len(examples) == 2
    for arguments in examples:
        words = shlex.split(arguments.partition(" -- ")[0])
        known = {option for param in made.params for option in param.opts}
        assert {word for word in words if word.startswith("-")} <= known

    monkeypatch.setenv("COLUMNS", "80")
    assert run([*name.split(), "--help"]) == 0
    out = capsys.readouterr().out

    shown = " ".join(out.split())
    assert made.help and " ".join(made.help.split())[:40] in shown
    assert all(" ".join(f"lmr-author {name} {words}".split()) in shown for words in examples)
    assert not re.search(r"<[a-z]|\[\[|…\.\.\.|range>", out), "names of Python types"
    assert [line for line in out.partition("Examples:")[0].splitlines() if len(line) > 80] == []


WITHOUT_TASK = {"demo", "new-task", "explain", "make", "draft", "analyze"}
"""Verbs that are not about tasks which are there."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_a_task_in_one_way_and_asks_nothing_where_told(name: str) -> None:
    group, _, one = name.partition(" ")
    made = command(group).load(one) if one else command(name)
    known = {option: param for param in made.params for option in param.opts}
    assert known["--no-input"].is_flag
    assert ("--task" in known and "-t" in known) == (name not in WITHOUT_TASK)


def test_a_task_is_named_by_a_word_or_by_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = make_task(tmp_path)
    shown = []
    for words in (["status", str(task.root)], ["status", "-t", str(task.root), "--no-input"]):
        assert run(words) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] and task.name in shown[0]
    assert run(["suggest", "--no-input", "--task", str(task.root)]) == 0
    with pytest.raises(UsageError, match="two tasks are named") as raised:
        run(["review", str(task.root), "--task", str(tmp_path)])
    assert raised.value.hint == "name one"


def test_version_is_the_packages(tmp_path: Path) -> None:
    assert succeed("--version", cwd=tmp_path).out == f"lmr-author {lmr_author.__version__}\n"


def test_no_command_shows_the_help(tmp_path: Path) -> None:
    done = lmr(cwd=tmp_path)
    assert done.code == 2
    assert "Author:" in done.err and done.out == ""


@pytest.mark.parametrize("arguments", ["[]", "['--version']", "['status', '--help']", "['mask', '--help']"])
def test_starting_imports_nothing_heavy(arguments: str, tmp_path: Path) -> None:
    code = f"""
import sys
from lmr_author.cli.app import main
if {arguments}:
    main({arguments})
print("loaded:", *sorted({{name.partition(".")[0] for name in sys.modules}} & {set(HEAVY)!r}))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1:] == ["loaded:"], done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("explain", "LMR40"), "LMR403"),
        (("validate", "--select", "LMR40"), "LMR403"),
        (("set", "y"), "year="),
        (("mask", "--category", "Data"), "Data Augmentation"),
        (("mask", "pkg/losses.py::h"), "pkg/losses.py::hinge"),
        (("mask", "hin"), "hinge"),
        (("vet", "--answer", "ven"), "venue=unsure"),
        (("review", "--decide", "co"), "core=pass"),
        (("export", "--to", "h"), "harbor"),
        (("env", "lo"), "local"),
        (("val",), "validate"),
    ],
)
def test_tab_offers_every_choice(words: tuple[str, ...], offered: str, tmp_path: Path) -> None:
    variables = {
        "_LMR_AUTHOR_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("lmr-author", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = lmr_forked(cwd=make_task(tmp_path).root, env=variables)
    assert offered in done.out.splitlines()
    assert lmr_forked(cwd=tmp_path, env=variables).err == ""  # where there is no task, too


def test_help_lists_the_choices_of_fields_questions_and_categories() -> None:
    for verb, names in (("set", FIELDS), ("vet", QUESTIONS), ("mask", CATEGORIES)):
        shown = " ".join(str(param.help) for param in command(verb).params)
        assert [name for name in names if name not in shown] == []


def test_a_gate_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert [*GATES] == [*SHOWN_GATES]
    assert run(["explain", "mutants-die"]) == 0
    assert "It holds when small mistakes planted in the golden" in " ".join(capsys.readouterr().out.split())
    assert run(["explain", "build", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["gate"] == "build"


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """As in ``lmr-author explain all | head -1``."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lmr_author", "explain", "all"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait(60)

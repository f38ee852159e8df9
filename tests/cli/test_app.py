"""The program itself: its verbs, their help, its version, and what it costs to start."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import lmr_author
from lmr_author.cli.app import MODULES, VERBS
from tests.cli.program import ENVIRONMENT, lmr, succeed

HEAVY = (
    "docker",
    "pymupdf",
    "fitz",
    "libcst",
    "git",
    "jsonschema",
    "httpx",
    "numpy",
    "jinja2",
    "rich",
)
HEAVY += ("questionary", "prompt_toolkit", "torch", "yaml", "pydantic")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_module_a_function_and_help(verb: str, tmp_path: Path) -> None:
    name = MODULES.get(verb, verb.replace("-", "_"))
    function = getattr(importlib.import_module(f"lmr_author.cli.{name}"), name)
    assert inspect.getdoc(function)

    done = succeed(verb, "--help", cwd=tmp_path)

    first = str(inspect.getdoc(function)).splitlines()[0]
    assert " ".join(first.split())[:40] in " ".join(done.out.split())
    assert done.err == ""
    assert list(tmp_path.iterdir()) == []


def test_help_lists_every_verb(tmp_path: Path) -> None:
    done = succeed("--help", cwd=tmp_path)
    listed = [
        line.split()[0] for line in done.out.partition("Commands:")[2].splitlines() if line[2:3].strip()
    ]
    assert listed == list(VERBS)


def test_version_is_the_packages(tmp_path: Path) -> None:
    assert succeed("--version", cwd=tmp_path).out == f"lmr-author {lmr_author.__version__}\n"


def test_no_command_shows_the_help(tmp_path: Path) -> None:
    done = lmr(cwd=tmp_path)
    assert done.code == 2
    assert "Commands:" in done.err and done.out == ""


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

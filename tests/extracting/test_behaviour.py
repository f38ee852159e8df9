"""The program does the same afterwards: random programs are run, names of real files are checked."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmr_author import code
from lmr_author.errors import LmrError
from lmr_author.extracting.extract import extract
from lmr_author.extracting.selection import select
from tests.extracting.consistency import problems
from tests.extracting.programs import PRELUDE, Programs
from tests.extracting.ranges import some_range, some_suites
from tests.extracting.running import assert_same, run_all

BUG = "report this one"
RANGES = 6
"""How many blocks of each program or file are tried."""


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_random_programs_do_the_same(choices: Random) -> None:
    """Each block is refused with a reason, or both programs print, end and leave the same."""
    text = Programs(choices).program()
    try:
        compile(text, "program.py", "exec")
    except SyntaxError:
        return  # a `nonlocal` or `return` in a place where Python does not want it
    module = code.Module.parse(text.encode(), "program.py")
    candidates = some_suites(module, after=PRELUDE.count("\n"))
    extractions = []
    for _ in range(RANGES):
        start, end = some_range(module, candidates, choices)
        try:
            extractions.append((start, end, extract(module, start, end, "fresh")))
        except LmrError as error:
            assert error.message and error.hint and BUG not in error.hint, (text, start, end, error.message)
    before, *others = run_all([text, *(done.data.decode() for _, _, done in extractions)])
    for (start, end, done), after in zip(extractions, others, strict=True):
        assert_same(
            before, after, "fresh", done.local, f"lines {start}-{end} of\n{text}\nbecame\n{done.diff}"
        )


def test_random_programs_are_worth_running() -> None:
    """Many run to their end, and many blocks of them can be extracted: else the test above says little."""
    programs, tried, extracted = [], 0, 0
    for seed in range(60):
        choices = Random(seed)
        text = Programs(choices).program()
        try:
            compile(text, "program.py", "exec")
        except SyntaxError:
            continue
        programs.append(text)
        module = code.Module.parse(text.encode(), "program.py")
        start, end = some_range(module, some_suites(module, after=PRELUDE.count("\n")), choices)
        tried += 1
        try:
            extract(module, start, end, "fresh")
        except LmrError:
            continue
        extracted += 1
    ran = run_all(programs)
    assert sum(not item.end for item in ran) > len(ran) / 3
    assert extracted > tried / 3


def library_files() -> list[Path]:
    """Forty files of the standard library, the same ones on every run."""
    folder = Path(sysconfig.get_path("stdlib"))
    known = sorted(
        path for path in folder.rglob("*.py") if not {"test", "tests", "site-packages"} & set(path.parts)
    )
    return random.Random(3).sample(known, 40)


@pytest.mark.parametrize("path", library_files(), ids=lambda path: path.name)
def test_names_of_real_files_stay_bound(path: Path) -> None:
    """Each block is refused with a reason, or every name means what it meant, as symtable sees it."""
    module = code.Module.parse(path.read_bytes(), path.name)
    candidates = some_suites(module)
    choices = Random(path.name)
    for _ in range(RANGES if candidates else 0):
        start, end = some_range(module, candidates, choices)
        try:
            done = extract(module, start, end, "fresh_function")
        except LmrError as error:
            assert error.message and error.hint and BUG not in error.hint, (start, end, error.message)
            continue
        scope = tuple(item.name for item in select(module, start, end).scopes[1:] if hasattr(item, "name"))
        new = code.Module.parse(done.data, path.name)
        assert problems(module.text, new.text, scope, "fresh_function") == [], (start, end)


def test_the_checker_sees_a_name_that_is_cut_off() -> None:
    """The checker itself: a forgotten input, a forgotten output, and one that is fine."""
    before = "def f(x):\n    y = x\n    return y\n"
    no_input = "def g():\n    y = x\n    return y\ndef f(x):\n    y = g()\n    return y\n"
    no_output = "def g(x):\n    y = x\ndef f(x):\n    g(x)\n    return y\n"
    fine = "def g(x):\n    y = x\n    return y\ndef f(x):\n    y = g(x)\n    return y\n"
    assert problems(before, no_input, ("f",), "g") == ["g: x was a variable of the function"]
    assert problems(before, no_output, ("f",), "g") == ["f: y was a variable of the function"]
    assert problems(before, fine, ("f",), "g") == []
    assert problems("x = 1\nprint(x)\n", "def g():\n    x = 1\ng()\nprint(x)\n", (), "g") == [
        ": x is bound nowhere"
    ]

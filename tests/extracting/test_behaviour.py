"""The program does the same afterwards: random programs are run, names of real files are checked."""

from __future__ import annotations

import ast
import random
import sysconfig
from contextlib import suppress
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyflakes import checker
from pyflakes.messages import UndefinedLocal, UndefinedName

from lmr_author.authoring.extracting.extract import extract
from lmr_author.core import code
from lmr_author.core.errors import LmrError
from tests.extracting.programs import PRELUDE, Programs
from tests.extracting.ranges import some_range, some_suites
from tests.extracting.running import assert_same, run_all

BUG = "report this one"
RANGES = 6
"""How many blocks of each program or file are tried."""


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
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
    programs, extracted = [], 0
    for seed in range(40):
        choices = Random(seed)
        text = Programs(choices).program()
        with suppress(SyntaxError):
            compile(text, "program.py", "exec")
            programs.append(text)
            module = code.Module.parse(text.encode(), "program.py")
            start, end = some_range(module, some_suites(module, after=PRELUDE.count("\n")), choices)
            with suppress(LmrError):
                extract(module, start, end, "fresh")
                extracted += 1
    ran = run_all(programs)
    assert sum(not item.end for item in ran) > len(ran) / 3
    assert extracted > len(programs) / 3


def library_files() -> list[Path]:
    """Some files of the standard library, the same ones on every run."""
    folder = Path(sysconfig.get_path("stdlib"))
    known = sorted(
        path for path in folder.rglob("*.py") if not {"test", "tests", "site-packages"} & set(path.parts)
    )
    return random.Random(3).sample(known, 12)


def undefined(text: str) -> set[str]:
    """The names that pyflakes finds undefined."""
    messages = checker.Checker(ast.parse(text)).messages
    return {
        str(item.message_args[0]) for item in messages if isinstance(item, UndefinedName | UndefinedLocal)
    }


def test_names_of_real_files_stay_bound() -> None:
    """Each block is refused with a reason, or no name is undefined that was defined."""
    for path in library_files():
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
            new = code.Module.parse(done.data, path.name)
            assert undefined(new.text) <= undefined(module.text), (path, start, end)


def test_a_name_that_is_cut_off_would_be_found() -> None:
    assert undefined("def f(x):\n    y = x\n    return y\n") == set()
    assert undefined("def g():\n    y = x\n    return y\n\ndef f(x):\n    return g()\n") == {"x"}

"""The picker: which functions a query finds, what stands on the screen, and what the keys do."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from lmr_author.cli.picker import Choice, Picker, matching

ENTER, TAB, ESCAPE, UP, DOWN, CLEAR = "\r", "\t", "\x1b", "\x1b[A", "\x1b[B", "\x15"
NAMES = (
    "trainers.py::preference_loss",
    "trainers.py::BasicTrainer.get_batch_metrics",
    "utils.py::pad_to_length",
    "utils.py::get_local_dir",
    "preference_datasets.py::tokenize_batch_element",
    *(f"models/layer_{number:02}.py::Layer{number:02}.forward" for number in range(20)),
)


def choice(target: str) -> Choice:
    name = target.rpartition("::")[2]
    return Choice(target, 50.0, f"about {name}", "", lambda: f"def {name}(x):\n    return x  # source")


CHOICES = [choice(name) for name in NAMES]


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe:
        yield pipe


Screen = Callable[..., tuple[list[str], str]]


@pytest.fixture
def shown(keys: PipeInput) -> Screen:
    """Run the picker on keys; what was chosen, and everything that was written to the terminal, as text."""

    def run(typed: str, *, rows: int = 24, columns: int = 80, several: bool = True) -> tuple[list[str], str]:
        written = io.StringIO()
        output = Vt100_Output(written, lambda: Size(rows, columns), term="xterm")
        keys.send_text(typed)
        with create_app_session(input=keys, output=output):
            chosen = Picker(CHOICES, several).run()
        return chosen, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", written.getvalue())

    return run


@pytest.mark.parametrize(
    ("query", "first", "number"),
    [
        ("", "trainers.py::preference_loss", 25),
        ("loss", "trainers.py::preference_loss", 1),
        ("PREF", "trainers.py::preference_loss", 2),
        ("batch get", "trainers.py::BasicTrainer.get_batch_metrics", 1),
        ("ptl", "utils.py::pad_to_length", 3),
        ("layer_07", "models/layer_07.py::Layer07.forward", 1),
        ("zebra", "", 0),
    ],
)
def test_a_query_finds_what_holds_its_letters_the_closest_first(query: str, first: str, number: int) -> None:
    found = [item.target for item in matching(CHOICES, query)]
    assert len(found) == number
    assert found[:1] == ([first] if first else [])


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        (ENTER, [NAMES[0]]),
        (DOWN + DOWN + UP + ENTER, [NAMES[1]]),
        (UP + ENTER, [NAMES[0]]),
        ("pad" + ENTER, [NAMES[2]]),
        ("zebra" + ENTER + CLEAR + ENTER, [NAMES[0]]),
        ("pad" + TAB + CLEAR + "loss" + TAB + ENTER, [NAMES[2], NAMES[0]]),
        (TAB + UP + TAB + DOWN + ENTER, [NAMES[2]]),
    ],
)
def test_keys(typed: str, chosen: Sequence[str], shown: Screen) -> None:
    assert shown(typed)[0] == chosen


def test_one_function_only_where_one_is_asked_for(shown: Screen) -> None:
    assert shown(TAB + DOWN + ENTER, several=False)[0] == [NAMES[1]]


def test_escape_ends_as_ctrl_c_does(shown: Screen) -> None:
    with pytest.raises(KeyboardInterrupt):
        shown(ESCAPE)


@pytest.mark.parametrize(("rows", "columns", "listed"), [(40, 140, 25), (20, 140, 18), (24, 80, 9)])
def test_the_first_screen_lists_as_many_functions_as_fit(
    rows: int, columns: int, listed: int, shown: Screen
) -> None:
    _, text = shown(ENTER, rows=rows, columns=columns)
    assert [name for name in NAMES if name in text] == list(NAMES[:listed])
    assert "25 of 25" in text


def test_the_source_of_the_line_that_is_meant_is_shown(shown: Screen) -> None:
    _, text = shown(ENTER, columns=140)
    assert "about preference_loss" in text
    assert re.search(r"def +preference_loss *\( *x", text)

"""What ``record`` says about parts of objects that are not stored."""

from __future__ import annotations

from lmr_author.cli.record import lines, not_stored
from lmr_author.task.recording import Case

ENCODER = {"path": "self._modules['encoder']", "type": "Encoder"}
LOCK = {"path": "pool._lock", "type": "_thread.lock"}
HIDDEN = {"path": "self._lock", "type": "_thread.lock"}


def case(number: int, *omitted: dict[str, str]) -> Case:
    """A case without these parts."""
    return Case(f"case_{number}", number, 10, {}, {}, "returned", omitted=omitted)


def test_a_part_that_no_case_has_is_told_once_with_what_builds_it() -> None:
    assert not_stored([case(1, ENCODER), case(2, ENCODER)]) == [
        "not stored: self.encoder (Encoder)",
        "if the function needs it, define a fixture that builds it in unit_test/fixtures.py: def encoder(): …",
    ]


def test_a_part_of_some_cases_is_told_with_their_names() -> None:
    first, second, last = not_stored([case(1, ENCODER, LOCK), case(2, ENCODER)])

    assert (first, second) == (
        "not stored: self.encoder (Encoder)",
        "not stored in case_1: pool._lock (_thread.lock)",
    )
    assert "def encoder(): …, def pool(): …" in last


def test_what_has_no_name_of_its_own_comes_without_advice() -> None:
    assert not_stored([case(1, HIDDEN)]) == ["not stored: self._lock (_thread.lock)"]
    assert not_stored([case(1)]) == []


def test_of_many_parts_the_first_are_named() -> None:
    many = [{"path": f"self.part{number}", "type": "Part"} for number in range(5)]

    told = not_stored([case(1, *many)])

    assert [line for line in told if "self.part4" in line] == []
    assert "and 2 more parts; recording.json lists them" in told


def test_lines_that_are_never_executed_are_told_as_ranges() -> None:
    assert lines([(7, 7)]) == "line 7"
    assert lines([(7, 9)]) == "lines 7-9"
    assert lines([(7, 7), (12, 15)]) == "lines 7, 12-15"

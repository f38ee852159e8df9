"""The choice among recorded calls, what is said of it, and their coverage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lmr_author.authoring.recording.run import RecordedCall, coverage
from lmr_author.authoring.recording.selection import (
    GENEROUS_BYTES,
    GENEROUS_CASES,
    GENEROUS_SECONDS,
    MOST_COMBINATIONS,
    NOT_GIVEN,
    CaseSelection,
    additions,
    further,
    options_of,
    order_of_choice,
)
from lmr_author.core.task.recording import Coverage
from lmr_author.runtime.probe.traits import MOST_DESCRIBED, Trait, describe_call


def call(
    number: int, hits: set[int], size: int = 10, outcome: str = "returned", **values: object
) -> RecordedCall:
    """A call as the recorder describes it."""
    named = {name.replace("__", "."): value for name, value in values.items()}
    described = describe_call(named, set(), {})
    return RecordedCall(
        number, Path(), frozenset(hits), size, described.texts, frozenset(described.traits), outcome
    )


LAYER = {"$": "object", "cls": "m:Linear", "state": {}}


def tensor(*shape: int) -> dict[str, object]:
    return {"$": "tensor", "dtype": "float32", "shape": list(shape), "file": "0"}


def numbers(calls: list[RecordedCall]) -> list[int]:
    return [item.number for item in order_of_choice(calls)]


def chosen(calls: list[RecordedCall], killed: dict[int, set[str]], wanted: int = 3) -> dict[int, str]:
    """Choose among calls; returns the number of each chosen one → what is said of it."""
    ordered = order_of_choice(calls)
    selection = CaseSelection(ordered, {number: frozenset(names) for number, names in killed.items()})
    found = selection.choose(ordered, wanted)
    return additions(sorted(found, key=lambda item: item.number), selection.contributions)


def test_everything_covered_comes_before_anything_else() -> None:
    many = [call(n, {0, 1}, size=n) for n in range(1, 30)]
    rare = call(99, {0, 2}, size=5000)
    assert set(numbers([*many, rare])[:2]) == {1, 99}


def test_small_before_large_and_success_before_error() -> None:
    large, small = call(1, {0}, size=500), call(2, {0}, size=5)
    error = call(3, {0}, size=1, outcome="raised")
    assert numbers([small, large, error])[-1] == 3 or numbers([small, large, error])[0] == 2
    assert set(numbers([call(1, {0, 1}), call(2, {0, 1}), call(3, {0, 2}, outcome="raised")])[:2]) == {1, 3}


def test_an_attribute_of_self_is_an_option_like_an_argument() -> None:
    """A layer that is merged, one that is not: the same class, the same shapes, another result."""
    plain = [call(n, {0}, self=LAYER, self__merged=False, x=tensor(4)) for n in range(1, 9)]
    merged = call(9, {0}, self=LAYER, self__merged=True, x=tensor(4))
    assert 9 in numbers([*plain, merged])[:2]
    assert "self.merged=True" in chosen([*plain, merged], {})[9]


def test_classes_of_one_module_read_differently() -> None:
    names = ("torch_struct.semirings.semirings:LogSemiring", "torch_struct.semirings.semirings:MaxSemiring")
    calls = [call(n, {0}, self__semiring={"$": "name", "v": name}) for n, name in enumerate(names, 1)]
    remarks = chosen(calls, {})
    assert remarks[1] == "self.semiring=…semirings:LogSemiring"
    assert remarks[2] == "self.semiring=…semirings:MaxSemiring"

    long = [{"$": "name", "v": f"pkg.losses:{'Very' * 9}{end}"} for end in ("Sharp", "Soft")]
    remarks = chosen([call(n, {0}, self__loss=node) for n, node in enumerate(long, 1)], {})
    assert remarks[1].endswith("VerySharp") and len(remarks[1]) == 40 and remarks[2].endswith("VerySoft")


def test_options_are_flags_words_and_what_is_left_out() -> None:
    calls = [
        call(1, {0}, x=tensor(4), kind="hinge"),
        call(2, {0}, x=tensor(6), kind="ipo", mask=None),
        call(3, {0}, x=tensor(6, 2), kind="ipo", items=[1, 2, 3, 3]),
    ]
    options = options_of(calls)
    assert options[1] >= {
        Trait("kind", "value", "'hinge'"), Trait("mask", "type", NOT_GIVEN), Trait("items", "type", NOT_GIVEN)
    }  # fmt: skip
    assert Trait("items", "size", "several") in options[3]
    two = Trait("x", "type", "tensor float32 with 2 dimensions")
    assert two in options[3] and two not in options[2]


def test_a_real_option_tells_calls_apart_when_it_is_given_left_out_or_at_its_limit() -> None:
    """`random_deletion(words, p)`: the one call that deletes a part of the sentence must be a case."""
    several = [call(n, {0}, p=p) for n, p in enumerate((0.0, 0.1, 0.2, 0.3, 0.4, 1.0), 1)]
    found = chosen([*several, call(7, {0})], {})
    assert {1, 6, 7} <= set(found)
    assert "p=0.0" in found[1] and "p=1.0" in found[6]
    assert set(found) & {2, 3, 4, 5}


def test_the_order_of_numbers_their_ties_and_their_amount_tell_calls_apart() -> None:
    given = [[3, 2, 1], [1, 2, 3], [2, 3, 2], [5], [], [1, 3, 2], [1, 4, 2], [1, 5, 2]]
    calls = [call(n, {0}, scores=scores) for n, scores in enumerate(given, 1)]
    found = set(chosen(calls, {}))
    assert {1, 2, 3, 4, 5} <= found and len(found) <= 6


def test_capitals_blanks_and_empty_texts_tell_calls_apart() -> None:
    given = [["a b"], ["A b"], ["a  b"], ["", "a"], ["c d"], ["e f"]]
    found = chosen([call(n, {0}, sentences=texts) for n, texts in enumerate(given, 1)], {})
    assert {2, 3, 4} <= set(found)


def test_a_call_that_raised_and_one_that_drew_random_numbers_are_cases() -> None:
    calls = [call(n, {0}, size=n, x=n + 10) for n in range(1, 9)]
    traits = calls[0].traits
    error = replace(calls[5], outcome="raised", traits=traits | {Trait("", "outcome", "raises ValueError")})
    drew = replace(calls[7], traits=traits | {Trait("", "random", "torch")})
    found = chosen([*calls[:5], error, drew], {})
    assert {6, 8} <= set(found)


def test_items_of_a_dictionary_are_options_only_where_the_function_names_them() -> None:
    """Counts of visits are data: each call has its own. A learning rate in a group of parameters is an option."""
    arguments = {"group": {"lr": 0.5, "visits": 7}}
    paths = {trait.path for trait in describe_call(arguments, {"lr"}, {}).traits}
    assert paths - {""} == {"group", "group['lr']"}


def test_a_combination_of_flags_is_an_option() -> None:
    """A layer in evaluation that is not merged: each flag stands so elsewhere, and both together nowhere else."""

    def layer(number: int, training: bool, merged: bool) -> RecordedCall:
        return call(
            number, {0}, self=LAYER, self__training=training, self__merged=merged, x=tensor(number + 9)
        )

    calls = [layer(1, True, False), layer(2, False, True), layer(3, True, True), layer(4, False, False)]
    found = chosen([*calls, layer(5, True, False), layer(6, False, True)], {}, wanted=1)
    assert len(found) == 4 and {3, 4} <= set(found)


def test_a_flag_together_with_a_number_of_dimensions_is_an_option() -> None:
    """The denominator is squared for rows elsewhere, and plain for a matrix nowhere but in the last call."""

    def scored(number: int, squared: bool, *shape: int) -> RecordedCall:
        return call(number, {0}, scores=tensor(*shape), squared=squared)

    calls = [scored(1, True, 4), scored(2, False, 4), scored(3, True, 4, 2), scored(4, False, 4, 2)]
    assert 4 in chosen(calls, {}, wanted=1)


def test_a_call_that_repeats_a_loop_is_a_case() -> None:
    """A merge that is done once cannot tell in which order merges are done."""
    calls = [call(1, {0, 1, 2}), call(2, {0, 1}), call(3, {0, 1, ~1})]
    found = chosen(calls, {}, wanted=1)
    assert set(found) == {1, 3}
    assert all("takes a path of its own" in text for text in found.values())


def test_a_large_dictionary_leaves_room_for_the_arguments() -> None:
    vocabulary = {"$": "dict", "v": [[index, f"token{index}"] for index in range(200)]}
    arguments = {
        "self": {"$": "object", "cls": "m:Tokenizer", "state": {"vocab": vocabulary}},
        "text": "Émile",
    }
    described = describe_call(arguments, {"vocab"}, {})
    assert Trait("text", "letters", "with letters outside ASCII") in described.traits
    assert "text" in described.texts and len(described.texts) == MOST_DESCRIBED


def test_none_given_and_left_out_are_three_ways_of_an_argument_to_stand() -> None:
    masks: list[dict[str, object]] = [{"mask": None}, {"mask": tensor(3)}, {}]
    ways = [{"flag": flag, **mask} for flag in (True, False) for mask in masks]
    calls = [call(n, {0}, x=tensor(3), **values) for n, values in enumerate(ways * 2, 1)]
    assert len(chosen(calls, {}, wanted=1)) == 6


def test_where_flags_stand_in_many_ways_only_some_are_told_apart() -> None:
    flags = [{name: bool(n >> place & 1) for place, name in enumerate("abcdef")} for n in range(64)]
    calls = [call(n, {0}, **values) for n, values in enumerate(flags, 1)]
    assert len(chosen(calls, {}, wanted=1)) <= MOST_COMBINATIONS + 2


def test_three_cases_where_three_catch_all() -> None:
    calls = [call(n, {0}, x="1") for n in range(1, 20)]
    killed = {1: {"a", "b"}, 2: {"b", "c"}, 3: {"d"}, 4: {"a"}}
    assert set(chosen(calls, killed)) == {1, 2, 3}


def test_as_many_as_catch_something() -> None:
    """The number that is asked for is an aim: a call that alone makes a mutant fail is a case."""
    calls = [call(n, {0}, x=n) for n in range(2, 32)]
    found = chosen(calls, {n: {str(n)} for n in range(2, 7)})
    assert set(found) == {2, 3, 4, 5, 6}
    assert found[4] == "1 mutant fails only here; x=4"
    assert len(chosen(calls, {n: {str(n)} for n in range(2, 32)})) == 30


def test_options_alone_do_not_make_a_test_slow() -> None:
    calls = [replace(call(n, {0}, kind="abcd"[n % 4]), seconds=20.0) for n in range(1, 9)]
    assert len(chosen(calls, {}, wanted=1)) == 1
    assert len(chosen([replace(item, seconds=0.1) for item in calls], {}, wanted=1)) == 4


def test_a_case_whose_place_others_fill_is_dropped() -> None:
    """The second kills most and is taken first; the others together kill all that it does."""
    calls = [call(1, {0, 1}), call(2, {0}), call(3, {0, 2}), call(4, {0, 3})]
    assert set(chosen(calls, {1: {"a", "b"}, 2: {"a", "b", "c", "d"}, 3: {"c"}, 4: {"d"}})) == {1, 3, 4}


def stored(folder: Path, number: int, inputs: str = "", padding: int = 10, **changes: object) -> RecordedCall:
    """A call whose files lie in a folder; ``inputs`` is what they hold, else its number."""
    own = folder / str(number)
    own.mkdir()
    (own / "inputs.json").write_text(inputs or str(number))
    (own / "expected.json").write_text("x" * padding)
    return replace(call(number, {0}, x=number), folder=own, **changes)  # type: ignore[arg-type]


def test_small_and_fast_calls_are_kept_generously(tmp_path: Path) -> None:
    calls = [stored(tmp_path, number) for number in range(1, 60)]
    more = further(calls[:3], calls, GENEROUS_CASES)
    assert len(more) == GENEROUS_CASES - 3
    assert all(item not in calls[:3] for item in more)


def test_what_is_kept_beside_the_chosen_is_new_small_fast_and_returned(tmp_path: Path) -> None:
    first = stored(tmp_path, 1)
    same = stored(tmp_path, 2, inputs="1")
    error = stored(tmp_path, 3, outcome="raised")
    large = stored(tmp_path, 4, padding=GENEROUS_BYTES)
    slow = stored(tmp_path, 5, seconds=GENEROUS_SECONDS)
    other = stored(tmp_path, 6)
    assert further([first], [first, same, error, large, slow, other], GENEROUS_CASES) == [other]


def test_lines_that_no_call_executes() -> None:
    blocks = {0: 10, 1: 12, 2: 14, 3: 12}
    assert coverage(frozenset({0, 1}), blocks, {}) == Coverage((10, 12), (14,))
    assert coverage(frozenset({0, 1, 2, 3}), blocks, {}) == Coverage((10, 12, 14), ())
    assert coverage(frozenset(), blocks, {}) == Coverage((), (10, 12, 14))


def test_a_condition_is_never_false_when_it_was_asked_and_always_held() -> None:
    blocks, absent = {0: 10, 1: 12, 2: 11}, {2: 1}
    assert coverage(frozenset({0, 1}), blocks, absent) == Coverage((10, 12), (), (11,))
    assert coverage(frozenset({0, 1} | {0, 2}), blocks, absent) == Coverage((10, 12), ())
    assert coverage(frozenset({0, 2}), blocks, absent) == Coverage((10,), (12,))
    assert coverage(frozenset({0}), blocks, absent) == Coverage((10,), (12,)), "the condition was never asked"

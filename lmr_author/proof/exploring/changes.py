"""Changes of one value in the inputs of a call; the profile decides whether the result is allowed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from lmr_author.proof.exploring.inputs import (
    CallInputs,
    InputPlace,
    elements,
    is_record,
    length_of,
    shared,
    size_of,
)

FEWEST_WORDS = 2
"""A string with fewer words is a name, not text."""
LETTERS = "aZ0 _-.,'\"\n\t()[]{}\\/%$é’ß"
"""Characters that string functions treat differently."""
Seen = Sequence[tuple[CallInputs, Any]]
"""Values at one path in recorded calls, each with its call."""


def change(call: CallInputs, place: InputPlace, seen: Seen, named: Sequence[Any], rng: random.Random) -> bool:
    """Change the value at a place; return whether that was possible.

    Args:
        seen: values that recorded calls have at the same path.
        named: numbers and strings in the target's code.
    """
    node, others = place.node, [other for _, other in seen]
    items = elements(node)
    if items is not None:
        return _change_list(items, others, rng)
    if isinstance(node, dict) and node.get("$") in ("set", "frozenset"):
        return not _is_shared(node["v"]) and _drop(node["v"], rng)
    values = call.array(node)
    if values is not None and values.size:
        arrays = [array for other, value in seen if (array := other.array(value)) is not None]
        call.put_array(place, _change_array(values, arrays, rng))
        return True
    new = another(node, others, named, rng)
    if node is None or (type(new), new) == (type(node), node):
        return False
    place.put(new)
    return True


def another(value: Any, others: Sequence[Any], named: Sequence[Any], rng: random.Random) -> Any:
    """Return a different number, boolean or string; any simple value for None, a copy for other types."""
    alike: list[Any] = [other for other in others if type(other) is type(value)]
    match value:
        case None:
            return rng.choice([True, False, 0, 1, 2, 0.5, *named])
        case bool():
            return not value
        case int():
            near: list[Any] = [value + 1, value - 1, 2 * value, 0, 1, 2, 3, 5, 10, -1]
            said: list[Any] = [whole + step for whole in named if type(whole) is int for step in (-1, 0, 1)]
            return rng.choice([*alike, *near, *said])
        case float():
            between = [(value + other) / 2 for other in alike[:5]]
            near = [0.0 - value, value / 2, 2 * value, 0.0, 0.5, 1.0, 2.0, -1.0, 10.0]
            said = [float(number) for number in named if isinstance(number, int | float)]
            return rng.choice([*alike, *between, *near, *said])
        case str():
            said = [text for text in named if isinstance(text, str)]
            made = [*_by_words(value, alike, rng), *_by_letters(value, said, rng)]
            return rng.choice([rng.choice(made), rng.choice([*alike, *said, value.upper()])])
    return value


def _by_words(text: str, others: Sequence[str], rng: random.Random) -> list[str]:
    words = text.split(" ")
    if len(words) < FEWEST_WORDS:
        return []
    at, to = rng.randrange(len(words)), rng.randrange(len(words))
    swapped = list(words)
    swapped[at], swapped[to] = words[to], words[at]
    made = [words[:at] + words[at + 1 :], [*words, words[at]], swapped, words[: at + 1], words[at:]]
    if others:
        made.append(words[:at] + rng.choice(others).split(" ")[at:])
    return [" ".join(each) for each in made] * 2


def _by_letters(text: str, named: Sequence[str], rng: random.Random) -> list[str]:
    at = rng.randint(0, len(text))
    pieces = [rng.choice(LETTERS), *named]
    made = [text[:at] + rng.choice(pieces) + text[at:] for _ in range(3)]
    return [*made, text.swapcase(), text[:at] + text[at + 1 :], text + text[at:], f" {text} ", ""]


def _drop(items: list[Any], rng: random.Random) -> bool:
    if not items:
        return False
    del items[rng.randrange(len(items))]
    return True


def _change_list(items: list[Any], others: Sequence[Any], rng: random.Random) -> bool:
    if not items or _is_shared(items) or is_record(items):
        return False
    at, to = rng.randrange(len(items)), rng.randrange(len(items))
    lists = [found for other in others if (found := elements(other)) and not _is_shared(found)]

    def repeat() -> None:
        items.insert(to, items[at])

    def swap() -> None:
        items[at], items[to] = items[to], items[at]

    def tie() -> None:
        items[to] = items[at]

    def cut() -> None:
        del items[at + 1 :]

    def exchange() -> None:
        items[at] = rng.choice(rng.choice(lists))

    ways: list[Callable[[], object]] = [lambda: _drop(items, rng), repeat, swap, tie, cut, items.reverse]
    if lists and not any(isinstance(item, dict) for found in lists for item in found):
        ways += [exchange] * 3
    if all(isinstance(item, int | float) for item in items):
        ways.append(items.sort)
    before = list(items)
    rng.choice(ways)()
    return items != before


def _is_shared(items: Sequence[Any]) -> bool:
    """Return whether an element contains a shared object, or a reference to one."""
    return any(map(shared, items))


def _change_array(values: Any, others: Sequence[Any], rng: random.Random) -> Any:
    import numpy

    new = values.copy()
    flat = new.reshape(-1)
    at, to = rng.randrange(flat.size), rng.randrange(flat.size)
    generator = numpy.random.default_rng(rng.randrange(2**32))
    alike = [other for other in others if other.shape == values.shape and other.dtype == values.dtype]

    def shuffle_axis() -> None:
        if new.ndim:
            new[...] = numpy.take(new, generator.permutation(new.shape[axis]), axis)

    def mix() -> None:
        other = rng.choice(alike)
        chosen = generator.random(new.shape) < 0.5
        new[chosen] = other[chosen]

    def move() -> None:  # one number to a limit
        flat[at] = rng.choice([values.min(), values.max(), flat.dtype.type(0), flat.dtype.type(1)])

    axis = rng.randrange(max(1, new.ndim))
    ways: list[Callable[[], object]] = [shuffle_axis, shuffle_axis, lambda: generator.shuffle(flat), move]
    ways.append(lambda: flat.__setitem__(to, flat[at]))  # a tie
    ways.append(lambda: new.__setitem__(..., numpy.flip(new, axis) if new.ndim else new))
    ways.append(lambda: new.__setitem__(..., numpy.sort(new, axis) if new.ndim else new))
    if alike:
        ways += [mix, mix]
    if new.dtype.kind == "f":
        ways += [
            lambda: numpy.subtract(0, new, out=new),
            lambda: numpy.round(new, 1, out=new),
            lambda: new.fill(0),
        ]
        ways += [lambda: numpy.multiply(new, rng.choice([0.5, 2, 10]), out=new)]
    if new.dtype.kind in "iu":
        ways += [lambda: flat.__setitem__(at, flat[at] + flat.dtype.type(1)), lambda: new.fill(flat[at])]
    if new.dtype.kind == "b":
        ways += [lambda: flat.__setitem__(at, not flat[at]), lambda: new.fill(flat[at])]
    with numpy.errstate(all="ignore"):
        rng.choice(ways)()
    return new


def resize(call: CallInputs, sizes: set[str], before: int, after: int, rng: random.Random) -> bool:
    """Change the size of all parts that share it, by dropping or repeating elements.

    Args:
        sizes: names of these sizes, as ``size_of`` and ``length_of`` return them.
        before, after: old and new size.
    """
    kept = sorted(rng.sample(range(before), min(before, after)))
    kept += [rng.randrange(before) for _ in range(after - before)] if before else []
    is_changed = False
    for place in call.places():
        node, items = place.node, elements(place.node)
        if type(node) is int and node == before and size_of(place.path) in sizes and "[*]" not in place.path:
            place.put(after)
        elif items is not None and len(items) == before and length_of(place.path) in sizes:
            if _is_shared(items):
                return False
            items[:] = [items[index] for index in kept]
            is_changed = True
        elif (values := call.array(node)) is not None:
            for axis, size in enumerate(values.shape):
                if size == before and size_of(place.path, axis) in sizes:
                    values = values.take(kept, axis)
                    is_changed = True
            if list(values.shape) != node["shape"]:
                call.put_array(place, values)
    return is_changed

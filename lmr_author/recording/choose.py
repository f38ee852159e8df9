"""The choice among recorded calls: by the mutants that they make fail, the blocks they execute, and their options."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from lmr_author.recording.calls import RecordedCall
from lmr_author.texts import counted, listed, shortened

MOST_PER_WANTED = 4
"""A few cases are the aim; where each catches something new, so many times as many are kept."""
MOST_OPTIONS = 4
"""A part with more values than these is data and no option."""
NOT_GIVEN = "not given"
_SIZED = re.compile(r"(?P<kind>list|tuple|dict|set) of (?P<size>\d+)$")
_TENSOR = re.compile(r"(?P<kind>(?:tensor|array) \w+)\[(?P<shape>[\d, ]*)\](?P<rest>.*)$")
_DATA = re.compile(r"-?\d*\.\d+(?:e[-+]?\d+)?$|-?\d+e[-+]?\d+$|-?inf$|nan$|text of |'.*\s.*'$")
"""Real numbers and sentences."""
LONGEST = 40
"""Characters of a part of a call in a description."""
ROOMY = 256 * 1024
"""Bytes of the largest call that is kept for its size: an answer may look at the first few items only."""
LARGER = 4
"""A call is much larger than one that has this many times fewer bytes."""

Trait = tuple[str, str]


class Options:
    """The options of calls: flags, integers, words, what is left out, element types, one item or several.

    Other numbers and shapes are none: whether they matter is what the mutants show.
    """

    def __init__(self, calls: Sequence[RecordedCall]) -> None:
        self._given = {path for call in calls for path in call.summary if path.isidentifier()}
        values: dict[str, set[str]] = defaultdict(set)
        for call in calls:
            for path, text in self._all(call):
                values[path].add(text)
        self._telling = {path for path, texts in values.items() if 1 < len(texts) <= MOST_OPTIONS}

    def of(self, call: RecordedCall) -> frozenset[Trait]:
        """Return the options of a call by which calls differ."""
        return frozenset(trait for trait in self._all(call) if trait[0] in self._telling)

    def _all(self, call: RecordedCall) -> list[Trait]:
        found = [(path, NOT_GIVEN) for path in self._given - call.summary.keys()]
        return found + [(path, text) for path in call.summary if (text := _as_option(call.summary[path]))]


def _as_option(text: str) -> str:
    """Return a description as far as it is an option; "" for data."""
    if sized := _SIZED.match(text):
        return f"{sized['kind']} of {sized['size'] if int(sized['size']) < 2 else 'several'}"
    if tensor := _TENSOR.match(text):
        return (
            f"{tensor['kind']} with {counted(len(tensor['shape'].split(',')), 'dimension')}{tensor['rest']}"
        )
    return "" if _DATA.match(text) else text


def order_of_choice(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Return all calls, best first: those with blocks or options that no earlier one has, then the most different.

    Small calls come before large ones, and calls that raised last, unless they alone cover something: a test made of
    errors says little about the method.
    """
    options = Options(calls)
    remaining = sorted(calls, key=lambda call: (call.outcome != "returned", call.size, call.number))
    traits = {call.number: options.of(call) for call in calls}
    chosen, hits, seen = list[RecordedCall](), set[int](), set[Trait]()

    def worth(call: RecordedCall) -> tuple[int, bool, int, int]:
        new = len(traits[call.number] - seen)
        return len(call.hits - hits), call.outcome == "returned", new, _difference(call, chosen)

    while remaining:
        best = max(remaining, key=worth)  # the first of equals, and they come sorted
        remaining.remove(best)
        chosen.append(best)
        hits |= best.hits
        seen |= traits[best.number]
    return chosen


def _difference(call: RecordedCall, chosen: Sequence[RecordedCall]) -> int:
    """Return how many parts differ from those of the most similar of the last chosen calls."""
    items = set(call.summary.items())
    return min((len(items ^ set(other.summary.items())) for other in chosen[-12:]), default=0)


class Catch:
    """The mutants, blocks and options of replayed calls, and their size: a choice among them is made by these.

    Args:
        killed: number of a call → ids of the mutants that fail its case.
    """

    def __init__(self, calls: Sequence[RecordedCall], killed: Mapping[int, frozenset[str]]) -> None:
        options = Options(calls)
        roomy = [call for call in calls if call.outcome == "returned" and call.size <= ROOMY]
        large = max((call.size for call in roomy), default=0) / LARGER
        self._traits: dict[int, frozenset[tuple[str, object]]] = {
            call.number: frozenset(
                [("mutant", name) for name in killed.get(call.number, ())]
                + [("block", block) for block in call.hits]
                + [("option", trait) for trait in options.of(call)]
                + [("size", "large")] * (call in roomy and call.size > large)
            )
            for call in calls
        }

    def of(self, call: RecordedCall) -> frozenset[tuple[str, object]]:
        """Return all that a call brings."""
        return self._traits[call.number]

    def choose(self, calls: Sequence[RecordedCall], wanted: int) -> list[RecordedCall]:
        """Return calls that bring all there is, greedily; at least ``wanted``, at most four times as many.

        Args:
            calls: in the order in which those are taken that bring equally much.
        """
        rest, chosen, seen = list(calls), list[RecordedCall](), set[tuple[str, object]]()

        def gain(call: RecordedCall) -> tuple[int, int]:
            new = self.of(call) - seen
            options = sum(kind == "option" for kind, _ in new)
            return len(new) - options, options

        while rest and len(chosen) < MOST_PER_WANTED * wanted:
            best = max(rest, key=gain)
            if not any(gain(best)):
                break
            rest.remove(best)
            chosen.append(best)
            seen |= self.of(best)
        for call in sorted(chosen, key=lambda call: -call.size):
            others = [other for other in chosen if other is not call]
            if self.of(call) <= set().union(*map(self.of, others)):
                chosen = others
        fill = [call for call in calls if call not in chosen]
        return chosen + fill[: max(0, wanted - len(chosen))]


def additions(chosen: Sequence[RecordedCall], catch: Catch) -> dict[int, str]:
    """Return number of a call → what it adds to the others, and how it differs from them; "" for nothing.

    A call that is alone has all its parts.
    """
    counts = Counter(trait for call in chosen for trait in catch.of(call))
    shared = Counter(pair for call in chosen for pair in call.summary.items())
    found = {}
    for call in chosen:
        own = [trait for trait in catch.of(call) if counts[trait] == 1 < len(chosen)]
        options = sorted(trait for kind, trait in own if kind == "option" and isinstance(trait, tuple))
        mutants = sum(kind == "mutant" for kind, _ in own)
        parts = [f"the only one with {listed([in_words(*pair) for pair in options], 3)}"] if options else []
        parts += [f"{counted(mutants, 'mutant')} fail{'s' * (mutants == 1)} only here"] if mutants else []
        parts += ["larger than the others"] if any(kind == "size" for kind, _ in own) else []
        parts += ["runs lines that no other runs"] if any(kind == "block" for kind, _ in own) else []
        named = {path for path, _ in options}
        differs = [
            shortened(in_words(path, text), LONGEST)
            for path, text in call.summary.items()
            if shared[path, text] <= max(1, len(chosen) - 1) and path not in named
        ]
        found[call.number] = "; ".join([*parts, *([listed(differs, 3)] if differs else [])])
    return found


def in_words(path: str, text: str) -> str:
    """Return a part of a call as it is shown: ``margin=2.0``, or ``x: tensor float32[4]``."""
    if text == NOT_GIVEN:
        return f"no {path}"
    return f"{path}: {text}" if " " in text.strip("'") else f"{path}={text}"

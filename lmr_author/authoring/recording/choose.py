"""The choice among recorded calls: by the mutants that they make fail, the blocks they execute, and their options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lmr_author.authoring.recording.calls import RecordedCall
from lmr_author.core.texts import counted, listed, shortened
from lmr_author.runtime.probe.traits import Trait

MOST_OPTION_SECONDS = 30.0
"""A call that only brings an option becomes a case as long as a run of the test takes less processor time."""
MOST_VALUES = 4
"""A part with more values than these is data and no option."""
MOST_COMBINATIONS = 8
"""Ways in which all flags stand together that are told apart: the most frequent ones, where there are more."""
NOT_GIVEN = "not given"
LONGEST = 40
"""Characters of a part of a call in a description."""
ROOMY = 256 * 1024
"""Bytes of the largest call that is kept for its size: an answer may look at the first few items only."""
LARGER = 4
"""A call is much larger than one that has this many times fewer bytes."""


class Options:
    """The options of calls: the traits that some of them have and others have not, what is left out among them."""

    def __init__(self, calls: Sequence[RecordedCall]) -> None:
        self._paths = {trait.path for call in calls for trait in call.traits}
        counts = Counter(trait for call in calls for trait in self._all(call))
        values = Counter(trait.path for trait in counts if trait.kind == "value")
        flags = Counter({trait: count for trait, count in counts.items() if trait.kind == "flags"})
        rare = {trait for trait, _ in flags.most_common()[MOST_COMBINATIONS:]}
        self._telling = {
            trait
            for trait, count in counts.items()
            if count < len(calls) and (trait.kind != "value" or values[trait.path] <= MOST_VALUES)
        } - rare

    def of(self, call: RecordedCall) -> frozenset[Trait]:
        """Return the options of a call by which calls differ."""
        return frozenset(self._all(call) & self._telling)

    def _all(self, call: RecordedCall) -> set[Trait]:
        absent = self._paths - {trait.path for trait in call.traits}
        return {*call.traits, *(Trait(path, "type", NOT_GIVEN) for path in absent)}


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
        """Return calls that bring all there is, greedily; at least ``wanted``.

        Args:
            calls: in the order in which those are taken that bring equally much.
        """
        rest, chosen, seen = list(calls), list[RecordedCall](), set[tuple[str, object]]()
        seconds = 0.0

        def gain(call: RecordedCall) -> tuple[int, int]:  # certain: mutants, blocks, size
            new = self.of(call) - seen
            options = sum(kind == "option" for kind, _ in new)
            return len(new) - options, options

        while rest:
            best = max(rest, key=gain)
            rest.remove(best)
            certain, options = gain(best)
            if certain or (options and seconds + best.cost <= MOST_OPTION_SECONDS):
                seconds += best.cost
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
    words = {}
    for call in chosen:
        own = [trait for trait in catch.of(call) if counts[trait] == 1 < len(chosen)]
        options = _plain(trait for kind, trait in own if kind == "option" and isinstance(trait, Trait))
        mutants = sum(kind == "mutant" for kind, _ in own)
        blocks = [block for kind, block in own if kind == "block" and isinstance(block, int)]
        parts = []
        if options:
            parts.append(f"the only one with {listed(list(map(option_in_words, options)), 3)}")
        if mutants:
            parts.append(f"{counted(mutants, 'mutant')} fail{'s' * (mutants == 1)} only here")
        if any(kind == "size" for kind, _ in own):
            parts.append("larger than the others")
        if any(block >= 0 for block in blocks):
            parts.append("runs lines that no other runs")
        elif blocks:
            parts.append("repeats lines that no other repeats")
        named = {option.path for option in options}
        differs = [
            shortened(in_words(path, text), LONGEST)
            for path, text in call.summary.items()
            if shared[path, text] <= max(1, len(chosen) - 1) and path not in named
        ]
        if differs:
            parts.append(listed(differs, 3))
        words[call.number] = "; ".join(parts)
    return words


def _plain(options: Iterable[Trait]) -> list[Trait]:
    """Return options without those that follow from the value of the same part, or from its absence."""
    ordered = sorted(options)
    exact = {option.path for option in ordered if option.kind == "value" or option.value == NOT_GIVEN}
    # With a flag of its own, how all of them stand together is no news.
    return [
        option
        for option in ordered
        if (option.path not in exact and not (exact and option.kind == "flags"))
        or option.kind == "value"
        or option.value == NOT_GIVEN
    ]


def in_words(path: str, text: str) -> str:
    """Return a part of a call as it is shown: ``margin=2.0``, or ``x: tensor float32[4]``."""
    return f"{path}: {text}" if " " in text.strip("'") else f"{path}={text}"


def option_in_words(option: Trait) -> str:
    """Return an option as it is shown: ``margin=2.0``, ``no margin``, ``x of size one × several``."""
    path, kind, value = option
    if value == NOT_GIVEN:
        return f"no {path}"
    if kind == "value":
        return in_words(path, value)
    if kind == "size":
        return f"{path} of size {value}"
    words = {
        "flags": "its combination of flags",
        "random": f"random numbers of {value}",
        "outcome": "an exception" if "raises" in value else "a result",
    }
    return words.get(kind) or f"{path}: {value}"

"""Generate calls by combining recorded ones and changing values, within the recorded ranges or beyond."""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author.core import code
from lmr_author.proof.exploring.changes import another, change, resize
from lmr_author.proof.exploring.inputs import (
    CallInputs,
    InputPlace,
    Profile,
    elements,
    is_number,
    length_of,
    size_of,
)
from lmr_author.runtime.probe.document import Document

MOST_CALLS = 60
"""Most recorded calls to start from."""
MOST_COMBINED = 2000
"""Most pairs of recorded calls that exchange an argument."""
MOST_FRUITLESS = 1000
"""Stop after this many tries in a row without a new call."""
MOST_LETTERS = 40
"""Longest string in the code that may be the value of an option."""
OWN = ("self", "cls")
RETURNING = 0.9
"""Minimum share of generated calls on which the golden returns, unless a rewrite confirms them.

If it raises more often, its inputs have a form unknown here, such as matching brackets, and a correct version may do
anything with other inputs.
"""
SECONDS = 60.0
"""Processor time for generated calls, estimated from the golden's times."""
OVERHEAD = 0.002
"""Seconds per call besides the golden's time: reading inputs, sending and comparing the outcome."""


@dataclass(frozen=True)
class GeneratedCall:
    """Inputs that were not recorded.

    Attributes:
        made_of: description: ``call 3 with margin of call 5``.
        is_within: everything is within the ranges of the recorded calls.
        keeps_signs: no number is negative, or zero, where recorded ones and the default never are: a correct version
            may reject a scale of zero.
    """

    document: Document
    made_of: str
    is_within: bool
    keeps_signs: bool


def generate(
    calls: Sequence[tuple[str, Document]], function: code.FunctionNode, *, bold: bool, seed: int = 0
) -> Iterator[GeneratedCall]:
    """Yield distinct generated calls, endlessly or until there are no new ones.

    Args:
        function: the target in the golden: numbers and strings in its code, and its defaults, are candidate values.
        bold: also leave the recorded ranges.
    """
    maker = _Maker(
        [CallInputs(document, name) for name, document in calls[:MOST_CALLS]], function, bold, seed
    )
    known = {call.digest for call in maker.calls}
    combined, fruitless = maker.combined(), 0
    for number in itertools.count():
        # Every third only combines recorded arguments, while there are new combinations.
        found = (next(combined, None) if number % 3 == 0 else None) or maker.changed()
        is_within = found is not None and maker.profile.allows(found)
        if found is not None and (is_within or bold) and (digest := found.digest) not in known:
            known.add(digest)
            fruitless = 0
            yield GeneratedCall(found.document, found.made_of, is_within, maker.keeps_signs(found))
        else:
            fruitless += 1
            if fruitless > MOST_FRUITLESS:
                return


def affordable(cost: float, runs: int) -> int:
    return int(SECONDS / (runs * (cost + OVERHEAD)))


class _Maker:
    def __init__(
        self, calls: Sequence[CallInputs], function: code.FunctionNode, bold: bool, seed: int
    ) -> None:
        self.calls, self.bold = calls, bold
        self.profile = Profile(calls)
        self._rng = random.Random(seed)
        self._named = _named_values(function)
        self._defaults = _defaults(function)
        self._names = list(dict.fromkeys(itertools.chain.from_iterable(call.arguments for call in calls)))
        self._digests = [{name: call.argument_digest(name) for name in self._names} for call in calls]
        self._seen: dict[str, list[tuple[CallInputs, Any]]] = {}
        self._least = {name: float(value) for name, value in self._defaults.items() if is_number(value)}
        for call in calls:
            for place in call.places():
                self._seen.setdefault(place.path, []).append((call, place.node))
                if (least := _least(call, place)) is not None:
                    self._least[place.path] = min(least, self._least.get(place.path, least))

    def keeps_signs(self, made: CallInputs) -> bool:
        """Return whether no number is negative (or zero) where all known ones are not."""
        for place in made.places():
            own, known = _least(made, place), self._least.get(place.path)
            if own is not None and known is not None and (own < 0 <= known or own == 0 < known):
                return False
        return True

    def combined(self) -> Iterator[CallInputs]:
        """Yield each recorded call with one argument of another, in random order, if the result is allowed."""
        triples = [
            (base, name, other)
            for base, other in itertools.permutations(range(len(self.calls)), 2)
            for name in self._names
            if self._digests[base][name] != self._digests[other][name]
        ]
        self._rng.shuffle(triples)
        for base, name, other in triples[:MOST_COMBINED]:
            made = self.calls[base].copied()
            if _take(made, name, self.calls[other]) and self.profile.allows(made):
                yield made

    def changed(self) -> CallInputs | None:
        made = self._rng.choice(self.calls).copied()
        steps = self._rng.choice((1, 1, 1, 2, 2, 3))
        done = [self._step(made) for _ in range(steps)]
        return made if any(done) else None

    def _step(self, made: CallInputs) -> bool:
        ways = [self._combine, self._change, self._change, self._resize]
        if self.bold:
            ways += [self._set_option, self._set_attribute]
        return self._rng.choice(ways)(made)

    def _combine(self, made: CallInputs) -> bool:
        name, other = self._rng.choice(self._names), self._rng.randrange(len(self.calls))
        is_other = made.argument_digest(name) != self._digests[other][name]
        return is_other and _take(made, name, self.calls[other])

    def _change(self, made: CallInputs) -> bool:
        places = [place for place in made.places() if place.path not in OWN]
        if not places:
            return False
        # Arguments are equally likely, however many values they contain; a list is as likely as its elements.
        argument = self._rng.choice(list(dict.fromkeys(_argument(place.path) for place in places)))
        path = self._rng.choice(
            list(dict.fromkeys(place.path for place in places if _argument(place.path) == argument))
        )
        place = self._rng.choice([place for place in places if place.path == path])
        if not change(made, place, self._seen.get(place.path, ()), self._named, self._rng):
            return False
        made.steps.append(f"another {place.path}")
        return True

    def _resize(self, made: CallInputs) -> bool:
        sizes = {}
        for place in made.places():
            if (items := elements(place.node)) is not None:
                sizes[length_of(place.path)] = len(items)
            elif (values := made.array(place.node)) is not None:
                sizes |= {size_of(place.path, axis): size for axis, size in enumerate(values.shape)}
        if not sizes:
            return False
        chosen = self._rng.choice(list(sizes))
        before = sizes[chosen]
        least, most = self.profile.limits(chosen)
        after = [size for size in range(max(0, int(least)), int(most) + 1) if size != before]
        if self.bold:
            after += [1, max(0, before - 1), before + 1, 2]
        if not after or not resize(
            made, self.profile.linked(chosen), before, new := self._rng.choice(after), self._rng
        ):
            return False
        made.steps.append(f"{chosen.removeprefix('size ')}={new}")
        return True

    def _set_option(self, made: CallInputs) -> bool:
        if not self._defaults:
            return False
        name = self._rng.choice(list(self._defaults))
        default, given = self._defaults[name], made.tree.get(name)
        if isinstance(given, dict | list):
            if not made.is_alone(name):
                return False
            del made.tree[name]
        else:
            made.tree[name] = another(default if given is None else given, (), self._named, self._rng)
        made.steps.append(f"{name}={made.tree.get(name, default)!r}")
        return True

    def _set_attribute(self, made: CallInputs) -> bool:
        # An integer is most often a size of the object's arrays.
        places = [place for name in OWN for place in made.attributes(name) if type(place.node) is not int]
        if not places:
            return False
        place = self._rng.choice(places)
        place.put(another(place.node, (), self._named, self._rng))
        made.steps.append(f"{place.path}={place.node!r}")
        return True


def _least(call: CallInputs, place: InputPlace) -> float | None:
    if is_number(place.node):
        return float(place.node)
    values = call.array(place.node)
    if values is None or not values.size or values.dtype.kind not in "iuf":
        return None
    return float(values.min())


def _take(made: CallInputs, name: str, other: CallInputs) -> bool:
    if any(name in call.tree and not call.is_alone(name) for call in (made, other)):
        return False
    made.take(name, other)
    made.steps.append(f"{name} of {other.name}" if name in other.tree else f"no {name}")
    return True


def _argument(path: str) -> str:
    return path.partition("[")[0].partition(".")[0]


def _named_values(function: code.FunctionNode) -> list[Any]:
    values = dict.fromkeys(
        (type(node.value), node.value)
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, int | float | str)
        and not isinstance(node.value, bool)
    )
    return [value for _, value in values if not isinstance(value, str) or len(value) <= MOST_LETTERS]


def _defaults(function: code.FunctionNode) -> dict[str, Any]:
    pairs = ((parameter.arg, default) for parameter, default in code.parameters(function.args))
    return {name: default.value for name, default in pairs if isinstance(default, ast.Constant)}

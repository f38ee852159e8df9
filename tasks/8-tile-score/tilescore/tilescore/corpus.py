"""Reports of a small world, and ever worse copies of them."""

from __future__ import annotations

import random

_PEOPLE = ["the miller", "an old sailor", "the young queen", "a tired clerk", "the baker", "my neighbour"]
_ACTS = [
    ("sold", "bought"),
    ("carried", "brought"),
    ("found", "discovered"),
    ("painted", "coloured"),
    ("hid", "concealed"),
]
_THINGS = [
    ("a red boat", "a crimson boat"),
    ("the silver key", "the key of silver"),
    ("three letters", "a few letters"),
    ("a broken clock", "a clock that was broken"),
    ("the heavy chest", "the chest"),
]
_PLACES = ["near the harbour", "in the market", "behind the old mill", "at home", "on the bridge"]
_TIMES = ["on monday", "before noon", "at night", "last winter", "yesterday"]


def report(rng: random.Random) -> tuple[str, list[str]]:
    """A report, and two or three ways to put it; one in twelve has nothing to say."""
    if rng.random() < 1 / 12:
        return "", ["", "Nothing ."]
    person, place, time = rng.choice(_PEOPLE), rng.choice(_PLACES), rng.choice(_TIMES)
    act, thing = rng.choice(_ACTS), rng.choice(_THINGS)
    ways = [
        f"{time} {person} {act[0]} {thing[0]} {place} .",
        f"{person} {act[1]} {thing[1]} {place} {time} .",
        f"{place} , {person} {act[0]} {thing[1]} {time} .",
    ]
    return ways[0].capitalize(), [way.capitalize() for way in rng.sample(ways[1:], rng.choice([1, 2]))]


def damage(text: str, times: int, rng: random.Random) -> str:
    """Hurt a text several times: lose a token, put in a wrong one, or swap two."""
    tokens = text.split()
    others = " ".join(_PEOPLE + _PLACES + _TIMES).split()
    for _ in range(times):
        if not tokens:
            tokens = [rng.choice(others)]
            continue
        place, other, kind = rng.randrange(len(tokens)), rng.randrange(len(tokens)), rng.random()
        if kind < 0.25:
            del tokens[place]
        elif kind < 0.5:
            tokens[place] = rng.choice(others)
        else:
            tokens[place], tokens[other] = tokens[other], tokens[place]
    return " ".join(tokens)

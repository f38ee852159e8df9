"""Sentences with BIO tags, and a synthetic corpus of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

START, STOP = "<s>", "</s>"
"""Stand for the words before the first and after the last one of a sentence."""

TYPES = ("person", "place", "firm")

_FIRST = "ada ben cleo dan eva finn gus hana ivo jan kim lea max nora otto pia".split()
_LAST = "abel brook carter dale ellis ford grant hale irwin jordan lane marsh".split()
_PLACES = "york|new york|lincoln|san marino|jordan|dale|port grant|ford|brook|lake marsh|upper lane|hale".split("|")
_FIRMS = "abel|ford|carter and dale|lincoln|jordan motors|irwin group|york steel|marsh and lane|ellis|grant".split("|")
_TEMPLATES = (
    "{person} works for {firm} in {place}",
    "{person} lives in {place}",
    "yesterday {person} met {person} near {place}",
    "they flew from {place} to {place}",
    "{person} said that {person} left",
    "shares of {firm} fell",
    "in {place} nobody had heard of {person}",
    "{firm} hired {person}",
    "he came from {place}",
    "prices rose again",
)


@dataclass
class Sentence:
    """Words and their tags: ``O``, or ``B-type`` and ``I-type`` for the words of an entity."""

    tokens: list[str]
    tags: list[str]


def entities(tags: list[str]) -> list[tuple[int, int, str]]:
    """Start, stop and type of every entity, from left to right."""
    found: list[tuple[int, int, str]] = []
    for position, tag in enumerate(tags):
        if tag.startswith("B-"):
            found.append((position, position + 1, tag[2:]))
        elif tag.startswith("I-"):
            start, _, kind = found.pop()
            found.append((start, position + 1, kind))
    return found


def sample_corpus(count: int, rng: np.random.Generator) -> list[Sentence]:
    """Draw sentences. Names follow a Zipf law, some belong to two or three types, and one in ten is in capitals."""
    return [_sentence(_TEMPLATES[_zipf(len(_TEMPLATES), 0.7, rng)], rng) for _ in range(count)]


def _sentence(template: str, rng: np.random.Generator) -> Sentence:
    sentence = Sentence([], [])
    for part in template.split():
        kind = part.strip("{}") if part.startswith("{") else ""
        words = _name(kind, rng).split() if kind else [part]
        if kind and rng.random() < 0.1:
            words = [word.upper() for word in words]
        sentence.tokens += words
        sentence.tags += [f"B-{kind}", *[f"I-{kind}"] * (len(words) - 1)] if kind else ["O"]
    return sentence


def _name(kind: str, rng: np.random.Generator) -> str:
    if kind == "person":
        style = rng.random()
        first, last = _FIRST[_zipf(len(_FIRST), 1.0, rng)], _LAST[_zipf(len(_LAST), 1.0, rng)]
        return first if style < 0.3 else last if style < 0.5 else f"{first} {last}"
    names = _PLACES if kind == "place" else _FIRMS
    return names[_zipf(len(names), 1.0, rng)]


def _zipf(size: int, power: float, rng: np.random.Generator) -> int:
    shares = np.arange(1, size + 1) ** -power
    return int(rng.choice(size, p=shares / shares.sum()))

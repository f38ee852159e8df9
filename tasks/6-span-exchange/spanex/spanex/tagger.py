"""An averaged perceptron that tags one word after the other."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from spanex.data import START, STOP, TYPES, Sentence, entities

TAGS = ["O", *(f"{place}-{kind}" for kind in TYPES for place in "BI")]


class Tagger:
    """Weights of features and tags; greedy from left to right."""

    def __init__(self) -> None:
        self.weights: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(len(TAGS)))

    def train(self, corpus: list[Sentence], epochs: int, rng: np.random.Generator) -> None:
        """Perceptron updates in random order; the weights become their average over all steps."""
        totals: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(len(TAGS)))
        step = 0
        for _ in range(epochs):
            for number in rng.permutation(len(corpus)):
                sentence, previous = corpus[number], START
                for position, tag in enumerate(sentence.tags):
                    step += 1
                    features = _features(sentence.tokens, position, previous)
                    right, best = TAGS.index(tag), self._best(features, previous)
                    if best != right:
                        for feature in features:
                            self.weights[feature][[right, best]] += 1.0, -1.0
                            totals[feature][[right, best]] += step, -step
                    previous = tag
        for feature, total in totals.items():
            self.weights[feature] = self.weights[feature] - total / (step + 1)

    def tag(self, tokens: list[str]) -> list[str]:
        """The tags of a sentence."""
        tags: list[str] = []
        for position in range(len(tokens)):
            previous = tags[-1] if tags else START
            tags.append(TAGS[self._best(_features(tokens, position, previous), previous)])
        return tags

    def _best(self, features: list[str], previous: str) -> int:
        scores = sum((self.weights[feature] for feature in features if feature in self.weights), np.zeros(len(TAGS)))
        allowed = [tag[0] != "I" or previous[1:] == tag[1:] for tag in TAGS]
        return int(np.argmax(np.where(allowed, scores, -np.inf)))


def _features(tokens: list[str], position: int, previous: str) -> list[str]:
    before = tokens[position - 1] if position else START
    after = tokens[position + 1] if position + 1 < len(tokens) else STOP
    word = tokens[position]
    return [f"w={word}", f"b={before}", f"a={after}", f"t={previous}", f"bw={before} {word}", f"wa={word} {after}"]


def f1(tagger: Tagger, corpus: list[Sentence], kind: str = "") -> float:
    """Micro-averaged F1 of entities, of one type or of all."""
    right = predicted = there = 0
    for number, sentence in enumerate(corpus):
        gold = {(number, *entity) for entity in entities(sentence.tags) if kind in ("", entity[2])}
        guess = {(number, *entity) for entity in entities(tagger.tag(sentence.tokens)) if kind in ("", entity[2])}
        right, predicted, there = right + len(gold & guess), predicted + len(guess), there + len(gold)
    return 2 * right / max(1, predicted + there)

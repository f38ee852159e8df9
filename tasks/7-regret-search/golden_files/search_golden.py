"""The search of the paper."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from regretsearch.model import Trigram


@dataclass(frozen=True)
class Hypothesis:
    """A text that was better than all before it.

    Attributes:
        tokens: without the prompt, with the end token if it was reached.
        score: length-normalised log-probability.
        calls: calls of the model that had been made when it was found.
    """

    tokens: tuple[int, ...]
    score: float
    calls: int


@dataclass
class RegretSearch:
    """Anytime search for a text with a high length-normalised log-probability (section 2 of the paper).

    Attributes:
        model: gives log-probabilities of the next token.
        budget: B, most calls of the model for one prompt.
        longest: T, most tokens of a text, the end token counted.
        shortest: s, number of tokens that have to stand before the end token.
        branches: k, tokens that are considered at each step, the first choice counted.
        limit: ε, largest regret of a branch that is kept.
        discount: γ, what is left of a regret after each step.
        power: α, exponent of the length that log-probabilities are divided by.
        calls: calls of the model for the latest prompt.
        skipped: roll-outs and branches of the latest prompt that were given up because of their bound.
    """

    model: Trigram
    budget: int = 40
    longest: int = 12
    shortest: int = 2
    branches: int = 3
    limit: float = 2.0
    discount: float = 0.8
    power: float = 0.7
    calls: int = 0
    skipped: int = 0

    def decode(self, prompt: tuple[int, ...]) -> Iterator[Hypothesis]:
        """Yield better and better hypotheses for a prompt until the budget is spent or no branch is left."""
        self.calls = self.skipped = 0
        best, number = float("-inf"), itertools.count()
        queue: list[tuple[float, int, tuple[int, ...], float]] = [(0.0, next(number), (), 0.0)]
        while queue:
            regret, _, tokens, total = heapq.heappop(queue)
            ended = tokens[-1:] == (self.model.end,)
            while not ended and len(tokens) < self.longest:
                if total / self.longest**self.power <= best + 1e-9:
                    self.skipped += 1
                    break
                if self.calls == self.budget:
                    if best == float("-inf") and tokens:
                        yield Hypothesis(tokens, total / len(tokens) ** self.power, self.calls)
                    return
                row = self.model.log_probs(prompt + tokens).copy()
                self.calls += 1
                if len(tokens) < self.shortest:
                    row[self.model.end] = -np.inf
                order = np.argsort(-row, kind="stable")[: self.branches]
                for token in order[1:].tolist():
                    price = round(regret + float(row[order[0]] - row[token]), 9)
                    if price <= self.limit:
                        heapq.heappush(queue, (price, next(number), (*tokens, token), total + float(row[token])))
                total += float(row[order[0]])
                tokens = (*tokens, int(order[0]))
                ended = tokens[-1] == self.model.end
                regret *= self.discount
            else:
                score = total / len(tokens) ** self.power
                if score > best + 1e-9:
                    best = score
                    yield Hypothesis(tokens, score, self.calls)

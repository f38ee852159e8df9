"""Properties of the search, on random models and on models full of ties."""

import numpy as np
import pytest

from regretsearch.model import Trigram
from regretsearch.search import RegretSearch


def coarse(size, seed):
    """A model whose log-probabilities are few whole numbers, so that ties are common."""
    return Trigram(-np.random.default_rng(seed).integers(1, 4, size=(size + 1, size + 1, size)).astype(float))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "options",
    [
        {"budget": 40, "shortest": 4, "limit": 6.0},
        {"budget": 60, "power": 0.0, "limit": 1.0, "discount": 1.0, "branches": 4},
        {"budget": 30, "longest": 4, "shortest": 1, "discount": 0.5},
        {"budget": 50, "power": 1.0, "discount": 0.3, "limit": 3.0},
    ],
)
def test_answers_improve_within_the_budget(seed, options):
    for model in (Trigram.random(5, np.random.default_rng(seed)), coarse(5, seed)):
        search = RegretSearch(model, **options)
        for prompt in ((), (1,), (0, 2)):
            found = list(search.decode(prompt))
            scores = [one.score for one in found]
            assert scores == sorted(set(scores))
            assert found[-1].calls <= search.calls <= search.budget
            for one in found:
                assert len(one.tokens) <= search.longest
                assert model.end not in one.tokens[: min(search.shortest, len(one.tokens) - 1)]


@pytest.mark.parametrize("budget", [0, 1, 3])
def test_the_first_text_may_be_unfinished(budget):
    search = RegretSearch(coarse(4, 0), budget, shortest=6)
    assert [len(one.tokens) for one in search.decode((0,))] == [budget][: budget]


def test_a_spent_budget_lets_complete_branches_through():
    table = np.full((4, 4, 3), -2.0)
    table[3, 3] = [-1.0, -1.5, -1.25]
    table[3, 0] = [-2.0, -3.0, -0.5]
    search = RegretSearch(Trigram(table), budget=2, shortest=0, power=0.0)
    assert [one.tokens for one in search.decode(())] == [(0, 2), (2,)]
    assert search.calls == 2

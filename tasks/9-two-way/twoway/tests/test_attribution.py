"""Properties of the attributions of a small random classifier."""

import numpy as np
import pytest

from twoway.attribution import two_way_attribution
from twoway.model import PAD, VOCABULARY, Classifier


def classifier(seed, with_pairs=True):
    """Random weights in steps of a quarter, so that ties occur."""
    rng = np.random.default_rng(seed)
    model = Classifier()
    model.single = np.round(4 * rng.normal(size=VOCABULARY + 1)) / 4
    model.pair = np.round(4 * rng.normal(size=(VOCABULARY + 1, VOCABULARY + 1))) / 4 * with_pairs
    model.single[PAD] = 0.0
    return model


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("most", [0, 1, 3, 9])
def test_attributions_are_complete(seed, most):
    rng = np.random.default_rng(seed)
    model, tokens, fixed = classifier(seed), rng.integers(5, size=7), rng.random(7) < 0.25
    credit, doubt = two_way_attribution(model, tokens, fixed, most)
    whole, bare = model.scores(tokens, np.stack([np.ones(7, dtype=bool), fixed]))
    assert credit.sum() == pytest.approx(whole - bare)
    assert not credit[fixed].any() and not doubt[fixed].any()
    assert (doubt >= 0).all() and (doubt <= 1).all()


def test_tokens_that_act_alone_get_their_weights():
    model, tokens = classifier(1, with_pairs=False), np.array([3, 0, 7, 5])
    credit, doubt = two_way_attribution(model, tokens, np.zeros(4, dtype=bool), 4)
    assert credit == pytest.approx(model.single[tokens])
    assert doubt == pytest.approx(np.zeros(4))


def test_nothing_free_and_nothing_gained():
    model, tokens = classifier(2), np.array([4, 1, 4])
    credit, doubt = two_way_attribution(model, tokens, np.ones(3, dtype=bool), 2)
    assert not credit.any() and not doubt.any()
    model = Classifier()
    model.single[:3] = 1.0, 1.0, -2.0
    model.pair[0, 1] = 0.5
    model.pair[1, 2] = -0.5
    credit, _ = two_way_attribution(model, np.array([0, 1, 2]), np.zeros(3, dtype=bool), 2)
    assert credit.sum() == pytest.approx(0.0)

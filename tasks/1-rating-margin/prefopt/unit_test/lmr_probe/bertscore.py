"""BERTScore, where it is installed: how alike two texts are, by the embeddings of a language model.

An optional extra: it takes the package ``bert-score``, which downloads the weights of a model where they are missing.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any, Dict

DEFAULT = "roberta-large"
"""The model that the package takes for English."""
ENVIRONMENT = "LMR_BERTSCORE_MODEL"
"""Names the folder that the model's weights are in, where there is no network."""

_scorers: Dict[str, Any] = {}


class Unavailable(Exception):
    """The package or the model is not there. The message says what to do."""


def available() -> bool:
    """Whether the package is installed; nothing is imported."""
    return importlib.util.find_spec("bert_score") is not None


def score(expected: str, actual: str, model: str = DEFAULT) -> float:
    """F1 of BERTScore, about 0 to 1; 1 for equal texts, which need no model. Raises Unavailable."""
    if expected == actual:
        return 1.0
    if not expected.strip() or not actual.strip():
        return 0.0
    scorer = _scorers.get(model)
    if scorer is None:
        scorer = _scorers[model] = _load(model)
    return float(scorer.score([actual], [expected])[2][0])


def _load(model: str) -> Any:
    try:
        package: Any = importlib.import_module("bert_score")
    except ImportError as error:
        raise Unavailable(
            "BERTScore takes a package that cannot be imported here (%s): pip install bert-score (for lmr-author "
            'itself: pip install "lmr-author[bertscore]")' % error
        ) from error
    # A recording says which model. It may be somebody else's, so only models that the package knows are loaded by name.
    layers = package.utils.model2layers.get(model)
    if layers is None:
        raise Unavailable("BERTScore does not know the model %s" % model)
    place = os.environ.get(ENVIRONMENT)
    if place:
        config: Any = importlib.import_module("transformers").AutoConfig.from_pretrained(place)
        layers = min(layers, config.num_hidden_layers)
    try:
        return package.BERTScorer(model_type=place or model, num_layers=layers, device="cpu")
    except OSError as error:
        raise Unavailable(
            "BERTScore's model %s cannot be loaded: %s; without a network, name its folder in %s"
            % (model, str(error).strip().splitlines()[0][:200], ENVIRONMENT)
        ) from error

"""Looser ways to compare, where the annotator says that they are enough: any order, and texts alike."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from typing import Any, Callable, Dict, List, Mapping, Sequence

MOST_UNORDERED = 2000
"""Longer sequences are compared in order: matching each with each would take too long."""
METRICS = ("token_f1", "rouge_l", "bertscore")
MODEL = "roberta-large"
"""The model that the package ``bert-score`` takes for English."""
ENVIRONMENT = "LMR_BERTSCORE_MODEL"
"""Names the folder of the model's weights, where there is no network."""


def unmatched(expected: Sequence[Any], actual: Sequence[Any], alike: Callable[[Any, Any], bool]) -> List[int]:
    """Places of expected items that have no partner of their own among the actual ones, in whatever order."""
    left = list(actual)
    missing = []
    for place, item in enumerate(expected):
        found = next((number for number, other in enumerate(left) if alike(item, other)), None)
        if found is None:
            missing.append(place)
        else:
            del left[found]
    return missing


def text_problem(checker: Mapping[str, Any], expected: str, actual: str) -> str:
    """Say why two texts are not alike enough; "" when they are."""
    metric, needed = str(checker.get("metric", METRICS[0])), float(checker.get("at_least", 1.0))
    try:
        found = similarity(metric, expected, actual, str(checker.get("model", MODEL)))
    except ImportError as error:
        advice = 'pip install bert-score (for lmr-author itself: pip install "lmr-author[bertscore]")'
        return "BERTScore cannot be computed here (%s): %s" % (error, advice)
    except OSError as error:
        return "BERTScore's model cannot be loaded: %s; name its folder in %s" % (error, ENVIRONMENT)
    shown = actual if len(actual) <= 100 else actual[:97] + "..."
    return "" if found >= needed else "%.3f alike, less than %g: %r" % (found, needed, shown)


def similarity(metric: str, expected: str, actual: str, model: str = MODEL) -> float:
    """Return how alike two texts are, 0 to 1: by words (``token_f1``, ``rouge_l``) or by a language model."""
    if expected == actual:
        return 1.0
    if metric == "bertscore":
        return _bertscore(expected, actual, model) if expected.strip() and actual.strip() else 0.0
    first, second = (re.findall(r"\w+", text.lower()) for text in (expected, actual))
    if not first or not second:
        return 1.0 if first == second else 0.0
    same = _longest(first, second) if metric == "rouge_l" else _common(first, second)
    return 2.0 * same / (len(first) + len(second))


def _common(first: List[str], second: List[str]) -> int:
    return sum(min(first.count(word), second.count(word)) for word in set(first))


def _longest(first: List[str], second: List[str]) -> int:
    """Length of the longest common subsequence."""
    above = [0] * (len(second) + 1)
    for word in first:
        row = [0]
        for place, other in enumerate(second):
            row.append(above[place] + 1 if word == other else max(row[-1], above[place + 1]))
        above = row
    return above[-1]


_scorers: Dict[str, Any] = {}


def bertscore_installed() -> bool:
    """Tell whether BERTScore's package is installed; nothing is imported."""
    return importlib.util.find_spec("bert_score") is not None


def _bertscore(expected: str, actual: str, model: str) -> float:
    if model not in _scorers:
        package: Any = importlib.import_module("bert_score")
        # A recording may be somebody else's, so only models that the package knows are loaded by name.
        layers = package.utils.model2layers.get(model)
        if layers is None:
            raise ImportError("it does not know the model %s" % model)
        place = os.environ.get(ENVIRONMENT)
        if place:
            config: Any = importlib.import_module("transformers").AutoConfig.from_pretrained(place)
            layers = min(layers, config.num_hidden_layers)
        _scorers[model] = package.BERTScorer(model_type=place or model, num_layers=layers, device="cpu")
    return float(_scorers[model].score([actual], [expected])[2][0])

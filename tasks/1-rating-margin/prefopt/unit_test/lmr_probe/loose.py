"""Looser ways to compare, where the annotator says that they are enough: any order, and texts alike."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import bertscore

BERTSCORE = "bertscore"

MOST_UNORDERED = 2000
"""Longer sequences are compared in order: matching each with each would take too long."""

Alike = Callable[[Any, Any], bool]


def unmatched(expected: Sequence[Any], actual: Sequence[Any], alike: Alike) -> List[int]:
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


def rows(table: Dict[str, Any], numbers: Callable[[Any], Any]) -> Optional[List[List[Any]]]:
    """A DataFrame's rows, each a list of nodes or numbers; None where a column is of another kind."""
    columns = []
    for node in table["v"]:
        if not isinstance(node, dict) or node["$"] not in ("ndarray", "objectarray", "extension"):
            return None
        if node["$"] == "ndarray":
            columns.append(list(numbers(node).values))
        else:
            values = node["v"] if node["$"] == "objectarray" else node["values"]["v"]
            columns.append(list(values))
    return [list(row) for row in zip(*columns)]


def similarity(metric: str, expected: str, actual: str, model: str = bertscore.DEFAULT) -> float:
    """How alike two texts are, from 0 to 1: ``token_f1`` (SQuAD) or ``rouge_l`` (F-measure), by lower-case words, or
    ``bertscore`` by a language model.

    Raises KeyError for another metric, Unavailable where BERTScore is not installed.
    """
    if metric == BERTSCORE:
        return bertscore.score(expected, actual, model)
    words = [re.findall(r"\w+", text.lower()) for text in (expected, actual)]
    if not words[0] or not words[1]:
        return 1.0 if words[0] == words[1] else 0.0
    same = METRICS[metric](words[0], words[1])
    return 2.0 * same / (len(words[0]) + len(words[1]))


def _common(first: List[str], second: List[str]) -> int:
    left = list(second)
    count = 0
    for word in first:
        if word in left:
            left.remove(word)
            count += 1
    return count


def _longest(first: List[str], second: List[str]) -> int:
    """Length of the longest common subsequence."""
    above = [0] * (len(second) + 1)
    for word in first:
        row = [0]
        for place, other in enumerate(second):
            row.append(above[place] + 1 if word == other else max(row[-1], above[place + 1]))
        above = row
    return above[-1]


METRICS: Dict[str, Callable[[List[str], List[str]], int]] = {"token_f1": _common, "rouge_l": _longest}
"""Metric → number of words that it counts as common."""

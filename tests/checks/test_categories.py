"""Which texts mean which of the nine categories."""

from __future__ import annotations

import pytest

from lmr_author.core.task import CATEGORIES
from lmr_author.core.task.info import canonical_category, nearest_category


@pytest.mark.parametrize("category", CATEGORIES)
def test_other_spellings_mean_the_canonical_name(category: str) -> None:
    for text in (category, category.upper(), category.replace(" & ", " and "), f"{category} Techniques"):
        assert canonical_category(text) == category
        assert nearest_category(text) == category


@pytest.mark.parametrize(
    "text",
    ["", "loss function", "Training", "Evaluation Metrics and Information Extraction", "Neural Networks"],
)
def test_free_text_and_mixtures_mean_none(text: str) -> None:
    assert canonical_category(text) is None


def test_free_text_has_a_nearest_one_where_there_is_one() -> None:
    assert nearest_category("optimization") == "Training Objectives & Optimization"
    assert nearest_category("beam search") == "Decoding & Search Strategies"
    assert nearest_category("banana") == ""
    assert nearest_category("Meta learning") == ""

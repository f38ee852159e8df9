"""Guesses at the category of a function."""

from __future__ import annotations

import pytest

from lmr_author.suggesting.category import BEGINNINGS, likely_category
from lmr_author.suggesting.passages import FunctionWords
from lmr_author.task import CATEGORIES


def test_each_category_has_its_words() -> None:
    assert set(BEGINNINGS) == set(CATEGORIES)


@pytest.mark.parametrize(
    ("name", "owner", "text", "category"),
    [
        ("preference_loss", "", "", "Training Objectives & Optimization"),
        ("__call__", "TypicalLogitsWarper", "", "Decoding & Search Strategies"),
        ("forward", "SelfAttention", "", "Neural Network Architectures"),
        ("swap_synonyms", "", "", "Data Augmentation"),
        ("compute", "", "The BLEU score of a text, a metric.", "Evaluation Metrics"),
        ("f", "", "", ""),
    ],
)
def test_names_count_more_than_texts(name: str, owner: str, text: str, category: str) -> None:
    assert likely_category(FunctionWords(name, owner, (), (), (text,))) == category


def test_a_name_outweighs_one_word_of_the_docstring() -> None:
    words = FunctionWords("pair_loss", texts=("It is an evaluation of pairs.",))
    assert likely_category(words) == "Training Objectives & Optimization"

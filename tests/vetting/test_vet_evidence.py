"""What is shown of abstracts and venues."""

from __future__ import annotations

import pytest

from tests.vetting.vetted import said


def test_an_abstract_is_shown_with_its_words_whole() -> None:
    abstract = "An un-\nsupervised low-resource method of e\ufb03cient state-of-the-art kind."
    shown = said(
        "methodological_focus",
        f"Wins\nAbstract\n{abstract}\n1 Introduction\n",
        "a low-resource, state-of-the-art thing",
    )
    assert "abstract: An unsupervised low-resource method of efficient state-of-the-art kind." in shown


def test_without_the_word_the_running_text_is_shown() -> None:
    page = "Wins\nJane Doe\n" + "Here a long enough line of the text begins, as it does.\n" * 4
    assert "abstract: Here a long enough line" in said("methodological_focus", page)
    assert "abstract" not in said("methodological_focus", "Wins\nJane Doe\n")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Annual Meeting of the Association for Computational Linguistics, 2021", "ACL"),
        ("Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing", "EMNLP"),
        ("International Conference on Computational Linguistics (2020)", "COLING"),
    ],
)
def test_a_venue_in_full_is_one_of_the_benchmarks(line: str, name: str) -> None:
    assert f"{name} is one of the benchmark's venues" in said("venue", "x", venue=line)

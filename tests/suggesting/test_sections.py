"""The headings of a paper, the section and paragraphs that describe a function, and its category."""

from __future__ import annotations

import pytest

from lmr_author.suggesting.sections import (
    CATEGORY_WORDS,
    FunctionWords,
    best_section,
    likely_category,
    passages,
    sections,
)
from lmr_author.task import CATEGORIES


def headings(*pages: str) -> list[str]:
    return [f"{one.number} {one.title}" for one in sections(dict(enumerate(pages, 1)))]


def test_numbers_that_run_on_are_headings() -> None:
    page = "1 Introduction\ntext\n2\nMethod\ntext\n2.1 Loss of Pairs\ntext\n3 Results\ntext\nReferences\n4 Nobody\n"
    assert headings(page) == ["1 Introduction", "2 Method", "2.1 Loss of Pairs", "3 Results"]


def test_affiliations_and_footnotes_are_none() -> None:
    first = "1 University of Somewhere\n2 Else Research Labs\n3 Third Place\nAbstract\ntext\n1\nIntroduction\ntext\n"
    second = (
        "2 We release everything that we have made so far for all\n3 Default word splitting is what every-\n"
    )
    third = "2\nMethod\ntext\n3\nExperiments\ntext\n"
    assert headings(first, second, third) == ["1 Introduction", "2 Method", "3 Experiments"]


def test_lists_with_dots_and_cells_of_tables_are_none() -> None:
    listed = "1. Raise the temperature\n2. Lower the rate\n3. Start again\n4. Report it\n5. Sleep\n"
    table = "1 O\n2 REFS\n3 REFS\n4 REFS\n"
    page = f"1 Introduction\n{listed}2 Background\n{table}3 Our Model\n4 Conclusion\n"
    assert headings(page) == ["1 Introduction", "2 Background", "3 Our Model", "4 Conclusion"]


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("2 REFS\n3 REFS\n4 REFS\n5 REFS\n", []),
        ("2 We show that all of the runs end in the same place\n", []),
        ("2. Lower the rate\n3 Results\n", ["3 Results"]),
        ("2 Table 2: what it costs\n3 Results\n", ["3 Results"]),
    ],
)
def test_what_would_follow_is_not_always_a_heading(rest: str, found: list[str]) -> None:
    assert headings(f"1 Introduction\ntext\n{rest}") == ["1 Introduction", *found]


def test_a_paper_that_sets_dots() -> None:
    page = "1. Introduction\n1 the first\n2. Method\n2.1. Sampling\n2.2. Training\n3. Results\n"
    assert headings(page) == ["1 Introduction", "2 Method", "2.1 Sampling", "2.2 Training", "3 Results"]


def test_a_heading_that_is_missing_does_not_end_them() -> None:
    """As 3, whose title is set in a picture, and 4.1, which ends with a full stop."""
    page = "1 Introduction\n2 Related Work\n3.1 Projection\n3.2 Mixing\n4 Experiments\n4.1 Setup of it.\n4.2 Data\n"
    page += "5 Conclusion\n"
    assert headings(page) == [
        "1 Introduction", "2 Related Work", "3.1 Projection", "3.2 Mixing", "4 Experiments", "4.2 Data",
        "5 Conclusion"
    ]  # fmt: skip


def test_a_is_a_word_also_among_capitals() -> None:
    page = "1 I NTRODUCTION\n2 A NEW TEST OF S AMPLES\n3 RESULTS\n"
    assert headings(page) == ["1 INTRODUCTION", "2 A NEW TEST OF SAMPLES", "3 RESULTS"]


def test_initials_and_lists_are_no_roman_numbers() -> None:
    page = "1 Introduction\nI. Loshchilov\nV. Vapnik\nX. Y\nIIII. Not One\n2 Method\n3 Results\n"
    assert headings(page) == ["1 Introduction", "2 Method", "3 Results"]
    assert headings("I. Raise it\nII. Lower it\nIII. Start again\n") == []


def test_a_list_alone_is_no_paper_with_sections() -> None:
    assert headings("1 Full gradients at each step\n2 Deterministic and fast\n3 Needs no tuning\n") == []
    assert headings("") == []


def test_versions_and_questions_may_stand_in_a_title() -> None:
    page = "1 Introduction\n2 Experiments\n2.1 Squares v1.1\n2.2 Question 1: Does it help?\n3 Conclusion\n"
    assert headings(page)[2:4] == ["2.1 Squares v1.1", "2.2 Question 1: Does it help?"]


def test_ligatures_in_titles_are_letters() -> None:
    assert headings("1 Introduction\n2 E\ufb03cient Sampling\n") == ["1 Introduction", "2 Efficient Sampling"]


def test_the_best_section_stands_out_or_there_is_none() -> None:
    found = sections(
        {
            1: "1 Introduction\npair margin loss\n2 Pair Margin Loss\nthe margin of each pair in the loss\n"
            "3 Experiments\nwe train for ten epochs\n4 Conclusion\nthe margin loss\n"
        }
    )
    best = best_section(found, FunctionWords("pair_margin_loss"))
    assert best is not None
    assert best.named == "section 2 (Pair Margin Loss)"
    assert best_section(found, FunctionWords("unrelated")) is None


def test_a_title_that_names_the_function_must_be_that_of_the_section_that_shares_most_with_it() -> None:
    found = sections(
        {
            1: "1 Introduction\nx\n2 Encoder\ndecode decode decode the hidden states\n3 Decoder\nshort\n"
            "4 Module Selector\nselection of a module\n5 Results\nmodules\n"
        }
    )

    def named(name: str, owner: str = "") -> str:
        best = best_section(found, FunctionWords(name, owner))
        return best.title if best else ""

    assert named("decode") == "", "the title of one section, the text of another"
    assert named("forward", "ModuleSelection") == "Module Selector"
    assert named("forward", "Encoder") == "Encoder"


def test_two_titles_that_name_it_decide_nothing() -> None:
    page = "1 Introduction\nx\n2 Pair Loss\nthe same\n3 Tree Loss\nthe same\n4 Results\nnone\n"
    assert best_section(sections({1: page}), FunctionWords("loss")) is None


def test_a_lead_that_is_small_names_none() -> None:
    text = "the margin of pairs is a loss that we use"
    page = f"1 Introduction\nx\n2 First\n{text}\n3 Second\n{text} here\n4 Results\nnone\n"
    assert best_section(sections({1: page}), FunctionWords("margin_of_pairs")) is None


def test_passages_are_paragraphs_that_share_words_and_no_references() -> None:
    text = [
        "1 Margin loss",
        "The margin of each pair is the loss that we minimize.",
        "We train for ten epochs on one GPU.",
    ]
    text += ["References", "A. Author. The margin loss of pairs of documents, revisited. ACL 2020."]
    (found,) = passages(text, FunctionWords("margin_loss"))
    assert (found.place, set(found.terms)) == (1, {"margin", "loss"})
    assert passages(text, FunctionWords("unrelated")) == ()


def test_each_category_has_its_words() -> None:
    assert set(CATEGORY_WORDS) == set(CATEGORIES)


@pytest.mark.parametrize(
    ("name", "owner", "text", "category"),
    [
        ("preference_loss", "", "", "Training Objectives & Optimization"),
        ("__call__", "TypicalLogitsWarper", "", "Decoding & Search Strategies"),
        ("forward", "SelfAttention", "", "Neural Network Architectures"),
        ("swap_synonyms", "", "", "Data Augmentation"),
        ("compute", "", "The BLEU score of a text, a metric.", "Evaluation Metrics"),
        ("pair_loss", "", "It is an evaluation of pairs.", "Training Objectives & Optimization"),
        ("f", "", "", ""),
    ],
)
def test_names_count_more_than_texts(name: str, owner: str, text: str, category: str) -> None:
    assert likely_category(FunctionWords(name, owner, (), (), (text,))) == category

"""The headings of a paper, the section and paragraphs that describe a function, and its category."""

from __future__ import annotations

import pytest

from lmr_author.authoring.suggesting.paper import TABLES, FunctionWords, best_section, likely_category
from lmr_author.core.paper.parts import sections
from lmr_author.core.task import CATEGORIES

AFFILIATIONS = "1 University of Somewhere\n2 Else Research Labs\n3 Third Place\nAbstract\ntext\n"
FOOTNOTES = (
    "2 We release everything that we have made so far for all\n3 Default word splitting is what every-\n"
)
STEPS = "1. Raise the temperature\n2. Lower the rate\n3. Start again\n4. Report it\n5. Sleep\n"
CELLS = "1 O\n2 REFS\n3 REFS\n4 REFS\n5 REFS\n"
HEADINGS = {
    "numbers that run on": (
        "1 Introduction\ntext\n2\nMethod\ntext\n2.1 Loss of Pairs\n3 Results\ntext\nReferences\n4 Nobody\n",
        ["1 Introduction", "2 Method", "2.1 Loss of Pairs", "3 Results"],
    ),
    "affiliations and footnotes are none": (
        f"{AFFILIATIONS}1\nIntroduction\ntext\n{FOOTNOTES}2\nMethod\ntext\n3\nExperiments\n",
        ["1 Introduction", "2 Method", "3 Experiments"],
    ),
    "lists with dots and cells of tables are none": (
        f"1 Introduction\n{STEPS}2 Background\n{CELLS}3 Our Model\n4 Conclusion\n",
        ["1 Introduction", "2 Background", "3 Our Model", "4 Conclusion"],
    ),
    "cells alone": (f"1 Introduction\n{CELLS}", ["1 Introduction"]),
    "a sentence": ("1 Introduction\n2 We show that all of the runs end in the same place\n", ["1 Introduction"]),
    "a style without dots": ("1 Introduction\n2. Lower the rate\n3 Results\n", ["1 Introduction", "3 Results"]),
    "a table": ("1 Introduction\n2 Table 2: what it costs\n3 Results\n", ["1 Introduction", "3 Results"]),
    "a style with dots": (
        "1. Introduction\n1 the first\n2. Method\n2.1. Sampling\n2.2. Training\n3. Results\n",
        ["1 Introduction", "2 Method", "2.1 Sampling", "2.2 Training", "3 Results"],
    ),
    "one that is missing does not end them": (
        "1 Introduction\n2 Related Work\n3.1 Project\n3.2 Mixing\n4 Experiments\n4.1 Setup of it.\n4.2 Data\n5 End\n",
        ["1 Introduction", "2 Related Work", "3.1 Project", "3.2 Mixing", "4 Experiments", "4.2 Data", "5 End"],
    ),
    "a method's own name": (
        "1 Introduction\n2 pRMSNorm\n3 k-Means of Words\n4 e.g. a step\n4 Results\n",
        ["1 Introduction", "2 pRMSNorm", "3 k-Means of Words", "4 Results"],
    ),
    "small capitals": (
        "1 I NTRODUCTION\n2 A NEW TEST OF S AMPLES\n3 RESULTS\n",
        ["1 INTRODUCTION", "2 A NEW TEST OF SAMPLES", "3 RESULTS"],
    ),
    "initials": ("1 Introduction\nI. Loshchilov\nV. Vapnik\n2 Method\n", ["1 Introduction", "2 Method"]),
    "versions and questions": (
        "1 Introduction\n2 Experiments\n2.1 Squares v1.1\n2.2 Question 1: Does it help?\n3 Conclusion\n",
        ["1 Introduction", "2 Experiments", "2.1 Squares v1.1", "2.2 Question 1: Does it help?", "3 Conclusion"],
    ),
    "ligatures": ("1 Introduction\n2 E\ufb03cient Sampling\n", ["1 Introduction", "2 Efficient Sampling"]),
    "a list alone": ("1 Full gradients at each step\n2 Deterministic and fast\n3 Needs no tuning\n", []),
    "nothing": ("", []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "found"), HEADINGS.values(), ids=HEADINGS)
def test_headings(text: str, found: list[str]) -> None:
    half = text.find("\n", len(text) // 2) + 1
    pages = {2: text[half:], 1: text[: half - 1]} if half else {1: text}
    assert [f"{one.number} {one.title}" for one in sections(pages)] == found


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


def test_each_category_has_its_words() -> None:
    assert set(TABLES["categories"]) == set(CATEGORIES)


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

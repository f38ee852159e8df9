"""Quotations stand in a paper however its lines were set, and with one other word they do not."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.core.paper.quotes import SPAN, QuotableText, is_enough

TASKS = Path(__file__).parents[2] / "tasks"
PAPERS = [json.loads(path.read_text("utf-8")) for path in sorted(TASKS.glob("*/*/paper.json"))]
PAGES = [[text.split() for text in paper.values() if len(text.split()) > 60] for paper in PAPERS]
LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}


def typeset(words: list[str], chance: random.Random) -> str:
    """A text of words with other line ends: words are divided by hyphens, letters joined, blanks widened."""
    text = ""
    for word in words:
        if chance.random() < 0.3:
            word = re.sub("ffi|ffl|ff|fi|fl", lambda match: LIGATURES[match[0]], word)
        found = re.search(r"[^\W\d_]{4,}", word)
        if found and chance.random() < 0.2:
            at = chance.randint(found.start() + 2, found.end() - 2)
            word = f"{word[:at]}{chance.choice('-‐')}\n{word[at:]}"
        text += word + chance.choice([" ", "  ", "\n", "\n  "])
    return text


@given(st.data(), st.integers(0, 2**32))
def test_a_passage_is_found_however_it_is_set_and_not_with_another_word(
    data: st.DataObject, seed: int
) -> None:
    chance = random.Random(seed)
    pages = data.draw(st.sampled_from(PAGES))
    words = [word for page in pages for word in page]
    begin = data.draw(st.integers(0, len(words) - 60))
    passage = words[begin : begin + data.draw(st.integers(6, 60))]
    text = QuotableText(dict(enumerate((typeset(page, chance) for page in pages), 1)))
    page = text.page_of(" ".join(passage))
    first = sum(begin >= sum(map(len, pages[:at])) for at in range(len(pages)))
    assert page == first or (page and " ".join(passage) in " ".join(pages[page - 1])), (
        "the first of several places"
    )

    exchanged = data.draw(st.integers(0, len(passage) - 1))
    other = [*passage[:exchanged], "zebra", *passage[exchanged + 1 :]]
    assert text.page_of(" ".join(other)) is None
    if re.fullmatch(r"[^\W\d_]{2,}", passage[-1]):
        assert text.page_of(" ".join([*passage[:-1], passage[-1][:-1]])) is None, (
            "half a word is another word"
        )


TEXT = {
    1: "We use pre-\ntrained “word” vectors.\nThe loss is −log p(x) − β, where\nx is the input. Fur-",
    2: "ther details, as the co-\noperative game’s value, follow: L = max(0, m − s) … (3)",
}


@pytest.mark.parametrize(
    ("quotation", "page"),
    [
        ('We use pretrained "word" vectors', 1),
        ("We use pre-trained ``word'' vectors.", 1),
        ("trained “word” vectors. The loss", 1),
        ("The loss is -log p(x) - β", 1),
        ("The loss is log p(x) β, where", None),
        ("The loss is +log p(x) − β", None),
        ("the loss is −log p(x) − β", None),
        ("is the input. Further details", 1),
        ("as the cooperative game's value", 2),
        ("rained word vectors. The loss", None),
        ("We use pre-trained … where x is the input", 1),
        ("We use pre-trained [...] where x is the input […] game’s value, follow", 1),
        ("where x is the input … We use pre-trained", None),
        ("L = max(0, m − s) …", 2),
        ("", None),
    ],
)
def test_what_counts_of_a_quotation(quotation: str, page: int | None) -> None:
    assert QuotableText(TEXT).page_of(quotation) == page


def test_the_parts_of_a_quotation_lie_within_a_page() -> None:
    far = "The first part is here. " + "filler " * SPAN + "The second part is there."
    assert QuotableText({1: far}).page_of("The first part is here … The second part is there") is None
    again = f"{far} The first part is here, too. The second part is there."
    assert QuotableText({1: far, 2: again}).page_of("The first part is here … The second part is there") == 2


def test_a_false_quotation_gets_the_nearest_passage() -> None:
    text = QuotableText(
        {3: "Nothing of this kind.\nEvery pair of answers is com-\npared once by the judge.", 4: "Not here."}
    )
    near = text.nearest("each pair of answers is compared twice")
    assert near == "the closest passage, on page 3: of this kind. Every pair of answers is compared once by"
    assert text.nearest("completely other words about something else") == ""


def test_four_words_or_twenty_characters_are_enough() -> None:
    assert is_enough("L = max(0, m − s) + 1") and is_enough("Aufmerksamkeitsgewichtung")
    assert not is_enough("the loss function") and not is_enough("− ( … ) = ! ? .")


def test_a_long_text_of_one_letter_is_searched_in_time() -> None:
    started = time.monotonic()
    text = QuotableText({1: "a " * 100_000 + "b " * 100_000, 2: "c"})
    assert text.page_of("a a a a a b b b b c") is None
    assert text.page_of("a a a a [...] b b b b c") is None
    assert QuotableText({1: "a" * 200_000}).page_of("a" * 30) is None
    assert time.monotonic() - started < 20

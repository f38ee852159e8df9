"""What an exchange keeps as it was, on sentences and on whole paragraphs."""

import numpy as np
import pytest

from spanex.bank import Bank
from spanex.data import Sentence, entities, sample_corpus
from spanex.exchange import Options, exchange_spans


def paragraph(seed, size=9):
    """Several sentences in one."""
    parts = sample_corpus(size, np.random.default_rng(seed))
    return Sentence([word for one in parts for word in one.tokens], [tag for one in parts for tag in one.tags])


def small_bank(seed, size=10):
    """In a paragraph, names can be neighbours of names."""
    return Bank.of([paragraph(seed, size)])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "options",
    [
        Options(rate=0.9, quota=0.3),
        Options(rate=0.6, balance=1.0, quota=1.0),
        Options(rate=1.0, context=3.0, stretch=2.0, fatigue=0.5, quota=0.5),
        Options(rate=0.9, context=0.5, stretch=-1.0, fatigue=2.0, quota=0.8),
    ],
)
def test_entities_keep_their_types_and_their_surroundings(seed, options):
    sentence, bank = paragraph(seed), small_bank(seed + 10)
    before, kinds = list(sentence.tokens), [kind for _, _, kind in entities(sentence.tags)]
    others = [word for word, tag in zip(sentence.tokens, sentence.tags) if tag == "O"]
    rng = np.random.default_rng(seed)
    exchanged = exchange_spans(sentence, bank, options, rng)
    assert [kind for _, _, kind in entities(sentence.tags)] == kinds
    assert [word for word, tag in zip(sentence.tokens, sentence.tags) if tag == "O"] == others
    assert sum(donor.used for donors in bank.donors.values() for donor in donors) == exchanged
    assert (sentence.tokens == before) == (exchanged == 0)
    again = np.random.default_rng(seed)
    again.random(len(kinds))
    assert rng.random() == again.random()  # one number for each entity


def test_unknown_types_stay():
    sentence = paragraph(0)
    bank = Bank.of([one for one in sample_corpus(30, np.random.default_rng(3)) if "B-firm" not in one.tags])
    firms = [sentence.tokens[i:j] for i, j, kind in entities(sentence.tags) if kind == "firm"]
    exchange_spans(sentence, bank, Options(rate=1.0, quota=2.0), np.random.default_rng(0))
    assert [sentence.tokens[i:j] for i, j, kind in entities(sentence.tags) if kind == "firm"] == firms
    assert exchange_spans(sentence, Bank({}, {}), Options(), np.random.default_rng(0)) == 0


def test_capitals_make_no_other_name():
    """All that the bank offers for two of the three names are the names themselves."""
    bank = Bank.of([Sentence(["Ada", "met", "new", "york"], ["B-person", "O", "B-place", "I-place"])])
    sentence = Sentence(["ADA", "saw", "ada", "leave", "York"], ["B-person", "O", "B-person", "O", "B-place"])
    assert exchange_spans(sentence, bank, Options(rate=1.0, quota=0.4), np.random.default_rng(1)) == 1
    assert sentence.tokens == ["ADA", "saw", "ada", "leave", "new", "york"]


@pytest.mark.parametrize(("place", "other"), [("dale", "york"), ("york", "dale")])
def test_neighbours_are_new_and_a_short_name_fits_after_a_long_one(place, other):
    names = [Sentence([place, person], ["B-place", "B-person"]) for place, person in (("york", "ada"), ("dale", "eva"))]
    names.append(Sentence(["carter", "and", "dale"], ["B-firm", "I-firm", "I-firm"]))
    sentence = Sentence([place, "kim", "ford", "hired", "max"], ["B-place", "B-person", "B-firm", "O", "B-person"])
    options = Options(rate=2.0, context=60.0, quota=0.61)
    assert exchange_spans(sentence, Bank.of(names), options, np.random.default_rng(0)) == 3
    person = {"york": "ada", "dale": "eva"}[other]
    assert sentence.tokens[:4] == [other, person, "ford", "hired"]

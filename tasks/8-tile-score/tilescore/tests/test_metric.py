"""What the score has to be where one can tell without computing it."""

import random

import pytest

from tilescore.corpus import damage, report
from tilescore.metric import tile_score

TEXTS = ["The old mill burned down .", "Nobody saw the clerk at night .", "A clock , broken ."]


def test_equal_texts_score_one():
    corpus, segments = tile_score(TEXTS, [[text.upper()] for text in TEXTS])
    assert [corpus, *segments] == pytest.approx([1.0] * 4)


def test_empty_texts():
    assert tile_score([], []) == (0.0, [])
    assert tile_score(["", " "], [[""], ["something else", ""]]) == (1.0, [1.0, 1.0])
    corpus, segments = tile_score(["", "a tired clerk", "The old mill"], [["the baker", "he"], ["", "Nothing ."], TEXTS])
    assert segments[:2] == [0.0, 0.0]
    assert 0 < corpus < segments[2]


def test_a_tie_goes_to_the_shorter_reference():
    hypotheses = ["an old sailor", "three letters", "yesterday"]
    long, short = "it is as we do", "neighbourhood photographers"
    given = [[long, short], ["three letters"], ["yesterday it rained", "it rained yesterday again"]]
    corpus, segments = tile_score(hypotheses, given)
    assert tile_score(hypotheses, [group[::-1] for group in given]) == (corpus, segments)
    assert tile_score(hypotheses, [[long], *given[1:]])[0] < corpus
    assert tile_score(["zebra", "baker"], [["baker near baker", "miller mill sailor"], ["baker"]])[1] == [0.0, 0.0]


@pytest.mark.parametrize("options", [{}, {"drift": 3.0}, {"disorder": 0.9}, {"beta": 0.4, "drift": 1.0, "disorder": 0.5}])
def test_damage_costs(options):
    rng = random.Random(7)
    texts = [report(rng) for _ in range(10)]
    references = [group for _, group in texts]
    scores = [tile_score([damage(text, n, rng) for text, _ in texts], references, **options)[0] for n in (0, 12)]
    assert scores[1] < scores[0]


@pytest.mark.parametrize("references", [[], [["a"], ["b"]], [[]]])
def test_numbers_have_to_match(references):
    with pytest.raises(ValueError, match="at least one reference"):
        tile_score(["a"], references)

"""Decode matrices with peaks and without, many of one or two characters, with several widths, with a language model and without."""

import numpy as np

from ctc_decoder.beam_search import beam_search
from ctc_decoder.language_model import LanguageModel

CHARS = "abt "
TEXT = "a bat at a tab taa baa tat a bata"


def noise(seed, steps, sharpness=1.0, chars=CHARS):
    logits = np.random.default_rng(seed).normal(0, 1, (steps, len(chars) + 1)) * sharpness
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def peaks(path, height=0.7, chars=CHARS):
    """Return the output of a network that is rather sure of a path; '-' is the blank."""
    width = len(chars) + 1
    rows = np.full((len(path), width), (1 - height) / (width - 1))
    for row, char in zip(rows, path):
        row[chars.index(char) if char != "-" else width - 1] = height
    return rows


def doubts(before, likely, other, ratio, steps=0):
    """Return an output that is sure of what is before, unsure of the next character, and sure of blanks after it."""
    rows = peaks("".join(char + "-" for char in before) + "-" + "-" * steps, 0.97)
    rows[2 * len(before)] = 0.02
    for char, height in ((likely, 0.44 * ratio), (other, 0.44)):
        rows[2 * len(before), CHARS.index(char) if char != "-" else len(CHARS)] = height
    return rows


lm = LanguageModel(TEXT, CHARS)
for seed in range(4):
    for chars in ("a", "ab", CHARS):
        for steps in (4, 9):
            mat = noise(seed, steps, 0.6 + 0.4 * (seed % 4), chars)
            small = lm if chars == CHARS else LanguageModel("ab a aab baab ba", chars)
            print(repr(beam_search(mat, chars)), repr(beam_search(mat, chars, 4)), repr(beam_search(mat, chars, 2, small)))
for path in ("a-a", "aa", "ba-at", "-----", "tt--aa", "aaaa", "taa-aat-aa", "bb-bbaa", "t a"):
    for height in (0.8, 0.4):
        print(path, repr(beam_search(peaks(path, height), CHARS)), repr(beam_search(peaks(path, height), CHARS, 3, lm)))
# The language model's score of a character counts once, however long the labeling stays.
often = LanguageModel("atatatatatabatatat t bat", CHARS)
for before, likely, other in (("a", "b", "t"), ("ta", "b", "t"), ("a", "b", "-"), ("t", " ", "a"), ("bata", "b", "t")):
    for steps in (0, 12, 24, 36):
        print(repr(beam_search(doubts(before, likely, other, 1.1, steps), CHARS, 4, often)))
# A longer text has the lower score, unless it is divided by the length.
for before, char in (("a", "b"), ("bata", "b"), ("at", " "), ("atat", " ")):
    for ratio in (1.01, 1.02, 1.03):
        print(repr(beam_search(doubts(before, char, "-", ratio), CHARS, 4, often)))
# The best path is blank throughout, but the labeling "a" has more paths.
print(repr(beam_search(np.array([[0.4, 0.0, 0.6], [0.4, 0.0, 0.6]]), "ab")))
print(repr(beam_search(np.array([[0.4, 0.0, 0.6], [0.4, 0.0, 0.6]]), "ab", lm=LanguageModel("abab", "ab"))))
print(repr(beam_search(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), "x", beam_width=5)))
print(repr(beam_search(np.zeros((0, 3)), "ab")))

"""Decode matrices with peaks and without, with several widths, with a language model and without."""

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


lm = LanguageModel(TEXT, CHARS)
for seed in range(8):
    for steps in (3, 6, 9):
        mat = noise(seed, steps, 0.6 + 0.4 * (seed % 4))
        print(repr(beam_search(mat, CHARS)), repr(beam_search(mat, CHARS, lm=lm)))
        for width in (1, 2, 4):
            print(repr(beam_search(mat, CHARS, width)), repr(beam_search(mat, CHARS, width, lm)))
for path in ("a-a", "aa", "ba-at", "-----", "tt--aa", "aaaa", "b", "-t-aab--", "t a"):
    for height in (0.9, 0.55, 0.35):
        print(path, repr(beam_search(peaks(path, height), CHARS)), repr(beam_search(peaks(path, height), CHARS, 3, lm)))
# The best path is blank throughout, but the labeling "a" has more paths.
print(repr(beam_search(np.array([[0.4, 0.0, 0.6], [0.4, 0.0, 0.6]]), "ab")))
print(repr(beam_search(np.array([[0.4, 0.0, 0.6], [0.4, 0.0, 0.6]]), "ab", lm=LanguageModel("abab", "ab"))))
print(repr(beam_search(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), "x", beam_width=5)))
print(repr(beam_search(np.zeros((0, 3)), "ab")))

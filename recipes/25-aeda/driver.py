"""Augment sentences of several lengths, with several ratios and seeds."""

import random
import sys

sys.path.insert(0, "code")

import aeda  # noqa: E402

SENTENCES = [
    "a charming and often affecting journey through the old town",
    "dull",
    "",
    "not a  word is   wasted here",
    " leading and trailing blanks ",
    "two words",
    "the plot , such as it is , never gets going and the jokes fall flat one after the other",
    "a tab\tis no separator\nand neither is a line break",
    "why would anyone sit through this again ? nobody knows ; nobody asks",
]
RATIOS = [0.3, 0.1, 0.6, 0.0, 0.9]

for seed in range(3):
    random.seed(seed)
    for sentence in SENTENCES:
        print(repr(aeda.insert_punctuation_marks(sentence)))
        for ratio in RATIOS:
            print(repr(aeda.insert_punctuation_marks(sentence, ratio)))
for seed in range(6):
    random.seed(seed)
    try:
        print(repr(aeda.insert_punctuation_marks("short one", punc_ratio=1.0)))
    except ValueError as error:
        print("more marks than words:", error)

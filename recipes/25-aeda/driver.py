"""Augment sentences of several lengths, with several ratios and seeds: most are long, as several marks go into them."""

import random
import sys

sys.path.insert(0, "code")

import aeda  # noqa: E402

SENTENCES = [
    "a charming and often affecting journey through the old town",
    "not a  word is   wasted here and neither is a minute of  its time",
    " leading and trailing blanks are words of no letters , which may get a mark as well ",
    "the plot , such as it is , never gets going and the jokes fall flat one after the other",
    "a tab\tis no separator\nand neither is a line break , so there are only as many words as spaces",
    "why would anyone sit through this again ? nobody knows ; nobody asks",
]
SHORT = ["dull", "", "two words"]
RATIOS = [0.3, 0.6, 0.1, 0.9]

for seed in range(4):
    random.seed(seed)
    for sentence in SENTENCES:
        print(repr(aeda.insert_punctuation_marks(sentence)))
        for ratio in RATIOS:
            print(repr(aeda.insert_punctuation_marks(sentence, ratio)))
for sentence in SHORT:
    random.seed(1)
    print(repr(aeda.insert_punctuation_marks(sentence)))
    print(repr(aeda.insert_punctuation_marks(sentence, 0.0)))
for seed in range(6):
    random.seed(seed)
    try:
        print(repr(aeda.insert_punctuation_marks("short one", punc_ratio=1.0)))
    except ValueError as error:
        print("more marks than words:", error)

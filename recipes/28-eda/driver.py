"""Delete and swap words of sentences of several lengths, for several probabilities and seeds."""

import random
import sys

sys.path.insert(0, "code")

from eda import random_deletion, random_swap, swap_word  # noqa: E402

SENTENCES = [
    "a sad superior human comedy played out on the back roads of life",
    "the the the the",
    "word",
    "two words",
    "one two three",
    "no no it is not , it is not",
]

for seed in range(8):
    random.seed(seed)
    for sentence in SENTENCES:
        words = sentence.split()
        for p in (0.1, 0.5, 0.0, 1.0, 0.9):
            print(random_deletion(words, p))
        print(random_swap(words, 1), random_swap(words, 3))
        print(swap_word(words))

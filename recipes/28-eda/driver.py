"""Delete and swap words of sentences of several lengths, most of which say a word more than once."""

import random
import sys

sys.path.insert(0, "code")

from eda import random_deletion, random_swap, swap_word  # noqa: E402

DELETED = [
    "no no no it is not no it is not no it is not no no it is not",
    "yes yes yes yes yes no no no yes yes yes yes no no no yes yes yes yes",
    "so so so so so so very very very very so so so so very very",
    "one two three",
]
SWAPPED = ["ha no ha no ha no ha no ha no", "here there here there", "yes no maybe yes no maybe yes no maybe yes", "two words"]

for seed in range(8):
    random.seed(seed)
    for sentence in DELETED:
        for p in (0.1, 0.5, 0.0, 1.0, 0.9):
            print(random_deletion(sentence.split(), p))
    # A single word stays whatever p is, and only a p as high as this says so whatever is drawn.
    print(random_deletion(["word"], 1.0))
    for sentence in SWAPPED:
        print(random_swap(sentence.split(), 2))
        print(swap_word(sentence.split()))
print(swap_word(["word"]))
for seed in (17, 45, 51):  # the position is the same three times, and another one the fourth
    random.seed(seed)
    print(swap_word(["two", "words"]))

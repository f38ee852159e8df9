"""Iterate over small sets of sentences for more than an epoch."""

import random
from itertools import islice

from data_loader import data_generator
from unit_test.fixtures import tokenizer

RELATIONS = {"capital": 0, "author": 1, "contains": 2}
DATA = [
    {"text": "Paris is the capital of France", "triple_list": [("France", "capital", "Paris"), ("France", "contains", "Paris")]},
    {"text": "Ada wrote Notes and Letters", "triple_list": [("Ada", "author", "Notes"), ("Ada", "author", "Letters"), ("Letters", "contains", "Notes")]},
    {"text": "Nobody is mentioned here", "triple_list": [("Berlin", "capital", "Germany")]},
    {"text": "New York has New York University", "triple_list": [("New York", "contains", "New York University"), ("New York", "contains", "University")]},
    {"text": "Rome", "triple_list": [("Rome", "contains", "Rome")]},
    {"text": "the long valley of the river Rhine contains Basel and the town of Constance far away", "triple_list": [("Rhine", "contains", "Basel"), ("Rhine", "contains", "Constance"), ("Basel", "contains", "Atlantis")]},
    {"text": "Oslo lies in Norway", "triple_list": [("Norway", "contains", "Oslo"), ("Norway", "capital", "Oslo"), ("Oslo", "contains", "Norway")]},
    {"text": "empty", "triple_list": []},
]
# More tokens than BERT_MAX_LEN, with an object behind them.
LONG = {
    "text": " ".join(["Nile", *(f"w{number}" for number in range(300)), "Cairo"]),
    "triple_list": [("Nile", "contains", "w9"), ("Nile", "contains", "Cairo"), ("w9", "capital", "Nile")],
}


def run(data, maxlen, batch_size, batches, seed):
    random.seed(seed)
    generator = data_generator(data, tokenizer(), RELATIONS, len(RELATIONS), maxlen, batch_size)
    for inputs, nothing in islice(generator, batches):
        print([array.shape for array in inputs], nothing)


run(DATA, 100, 3, 5, 1)
run(DATA, 100, 32, 2, 2)
run(DATA[:5], 100, 2, 6, 3)
run(DATA, 4, 2, 4, 4)
run(DATA, 9, 1, 9, 5)
run(DATA[:2], 100, 2, 3, 6)
run(DATA[:1], 100, 1, 2, 7)
run(DATA[3:], 100, 4, 4, 8)
run(DATA[::-1], 12, 5, 3, 9)
run(DATA[1:7], 100, 4, 4, 10)
run([DATA[6]] * 5, 100, 2, 7, 11)
run([LONG, DATA[6]], 400, 1, 4, 12)
run([DATA[3], LONG], 400, 2, 2, 13)

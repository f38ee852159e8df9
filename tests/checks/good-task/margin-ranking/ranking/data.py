"""Reading ranked lists."""

import json


def read_lists(path):
    """Ranked lists from a JSON lines file."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def shuffle_documents(documents, seed):
    """A reproducible permutation of documents."""
    order = sorted(range(len(documents)), key=lambda place: hash((seed, place)))
    return [documents[place] for place in order]

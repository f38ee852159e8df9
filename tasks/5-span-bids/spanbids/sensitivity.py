"""How much the options matter: F1 with random options for each document.

    python sensitivity.py                    24 documents, with four draws of the options each
    python sensitivity.py --documents 200
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from extract import answer, f1
from spanbids.documents import document


def options(random: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of both decoders, drawn around those of the paper."""
    spans = {
        "longest": int(random.integers(2, 6)),
        "length_bonus": float(random.uniform(0.0, 1.0)),
        "gap_cost": float(random.uniform(0.0, 3.0)),
        "offset": float(random.uniform(0.0, 6.0)),
    }
    links = {
        "half_distance": float(random.uniform(2.0, 16.0)),
        "crossing_cost": float(random.uniform(0.0, 0.5)),
        "reserve": float(random.uniform(0.0, 0.3)),
        "step": float(random.uniform(0.0, 0.3)),
        "rounds": int(random.integers(1, 10)),
    }
    return spans, links


def main() -> None:
    """Print F1 of mentions and arguments over all documents, for each draw of the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=24, help="number of documents (default: 24)")
    count = parser.parse_args().documents
    random = np.random.default_rng(11)
    documents = [document(random, noise=1.0, most_events=6) for _ in range(count)]
    for draw in range(1, 5):
        mentions, arguments = zip(*(answer(item, *options(random)) for item in documents))
        of_mentions = f1(mentions, [item.mentions for item in documents])
        of_arguments = f1(arguments, [item.arguments for item in documents])
        print(f"draw {draw}: mentions {of_mentions:.1f}, arguments {of_arguments:.1f}")


if __name__ == "__main__":
    main()

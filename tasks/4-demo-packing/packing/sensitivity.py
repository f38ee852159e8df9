"""How much the options matter: right answers with random options for each query.

    python sensitivity.py                  12 queries, with four draws of the options each
    python sensitivity.py --queries 200
"""

from __future__ import annotations

import argparse
import random

from packing.corpus import TOPICS, corpus, vocabulary
from packing.reader import prompt, read
from packing.select import select_demonstrations
from packing.words import rarity


def main() -> None:
    """Print the share of right answers over all queries, for each draw of the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=12, help="number of queries (default: 12)")
    queries = parser.parse_args().queries
    source = random.Random(5)
    names = vocabulary(source, 40 * (len(TOPICS) + 1))
    asked = corpus(source, queries, names, (1, 1, 1, 1))
    rest = corpus(source, 200, names, (4, 3, 2, 1))
    rare = rarity(text for text, _ in rest)
    for draw in range(1, 5):
        right = 0
        for query, topic in asked:
            pool = source.sample(rest, 24)
            order = select_demonstrations(
                query,
                pool,
                rare,
                source.randint(30, 100),
                template=source.randint(0, 6),
                discount=source.uniform(0.1, 1.0),
                redundancy=source.uniform(0.0, 1.0),
                balance=source.uniform(0.0, 0.5),
                power=source.uniform(0.0, 1.5),
                valley=source.random() < 0.8,
            )
            right += read(prompt([pool[place] for place in order], query), rare) == topic
        print(f"draw {draw}: {100 * right / queries:.1f} % right")


if __name__ == "__main__":
    main()

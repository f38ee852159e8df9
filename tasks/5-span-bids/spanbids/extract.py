"""Reproduce the paper's table: mentions and arguments of synthetic documents, under six settings.

    python extract.py                    a quick look: 12 documents per row
    python extract.py --documents 300    the table of the paper
    python extract.py --json             print JSON instead of a table
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from spanbids.documents import Document, document
from spanbids.linking import link_arguments
from spanbids.spans import decode_spans

PLAIN = {"offset": 0.0, "gap_cost": 0.0, "length_bonus": 0.0}
ANYWHERE = {"half_distance": 1e6, "crossing_cost": 0.0}
SETTINGS: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("scores alone", PLAIN, ANYWHERE),
    ("+ offset", {**PLAIN, "offset": 1.0}, ANYWHERE),
    ("+ cost of gaps", {"length_bonus": 0.0}, ANYWHERE),
    ("+ bonus of length", {}, ANYWHERE),
    ("+ distance", {}, {"crossing_cost": 0.0}),
    ("+ crossings", {}, {}),
)


def answer(item: Document, spans: dict[str, Any], links: dict[str, Any]) -> tuple[set[Any], set[Any]]:
    """The mentions and arguments that the decoders find."""
    mentions = decode_spans(item.begin, item.inside, item.end, **spans)
    found = link_arguments(mentions, item.triggers, **links)
    arguments = {
        (link.trigger, link.role, mentions[link.mention].start, mentions[link.mention].end) for link in found
    }
    return {(mention.start, mention.end, mention.type) for mention in mentions}, arguments


def f1(found: list[set[Any]], right: list[set[Any]]) -> float:
    """F1 over all documents, in per cent."""
    common = sum(len(a & b) for a, b in zip(found, right))
    return 200.0 * common / max(1, sum(map(len, found)) + sum(map(len, right)))


def table(count: int) -> list[list[str]]:
    """One row per setting: its name, then F1 of mentions and arguments."""
    random = np.random.default_rng(7)
    documents = [document(random, noise=1.0) for _ in range(count)]
    rows = []
    for name, spans, links in SETTINGS:
        mentions, arguments = zip(*(answer(item, spans, links) for item in documents))
        rows.append(
            [
                name,
                f"{f1(mentions, [item.mentions for item in documents]):.1f}",
                f"{f1(arguments, [item.arguments for item in documents]):.1f}",
            ]
        )
    return rows


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=12, help="documents per row (default: 12)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = table(options.documents)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'setting':<22}{'mentions, F1':>14}{'arguments, F1':>16}")
    for name, mentions, arguments in rows:
        print(f"{name:<22}{mentions:>14}{arguments:>16}")


if __name__ == "__main__":
    main()

"""A prompt, and a simulated reader with the habits of language models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from packing.words import words


def prompt(demonstrations: Sequence[tuple[str, str]], query: str) -> str:
    """The text that a language model would be given."""
    shown = [f"Text: {text}\nTopic: {label}\n" for text, label in demonstrations]
    return "\n".join([*shown, f"Text: {query}\nTopic:"])


def read(text: str, rare: Mapping[str, float]) -> str:
    """The topic that the reader answers with; "" if the prompt shows none.

    Every demonstration votes for its label with the rarity of the words that it shares with the query,
    and once more for its mere presence. Votes from the middle of the prompt count less. A run of
    demonstrations with the same label makes each further one count a fifth less.
    """
    *shown, last = text.split("\n\n")
    asked = set(words(last.splitlines()[0].removeprefix("Text:")))
    votes: dict[str, float] = defaultdict(float)
    before, run = "", 0
    for place, block in enumerate(shown):
        line, topic = block.strip().splitlines()
        label = topic.removeprefix("Topic: ")
        run = run + 1 if label == before else 0
        before = label
        edge = min(place, len(shown) - 1 - place)
        weight = max(0.3, 1.0 - 0.35 * edge) * 0.8**run
        common = asked & set(words(line.removeprefix("Text:")))
        votes[label] += weight * (0.5 + sum(rare.get(word, 0.0) for word in common))
    return max(votes, key=lambda label: votes[label], default="")

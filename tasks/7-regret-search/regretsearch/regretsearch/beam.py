"""Beam search, for comparison."""

from __future__ import annotations

from regretsearch.model import Trigram


def beam_search(
    model: Trigram, prompt: tuple[int, ...], width: int, longest: int, shortest: int, power: float
) -> tuple[float, int]:
    """Best length-normalised score that a beam of a width finds, and the number of calls of the model."""
    beam: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    best, calls = float("-inf"), 0
    for length in range(1, longest + 1):
        grown = []
        for total, tokens in beam:
            calls += 1
            row = model.log_probs(prompt + tokens)
            grown += [
                (total + float(value), (*tokens, token))
                for token, value in enumerate(row)
                if token != model.end or length > shortest
            ]
        grown.sort(key=lambda item: -item[0])
        beam = []
        for total, tokens in grown[:width]:
            if tokens[-1] == model.end or length == longest:
                best = max(best, total / length**power)
            else:
                beam.append((total, tokens))
        if not beam:
            break
    return best, calls

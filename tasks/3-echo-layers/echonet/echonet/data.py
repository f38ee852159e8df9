"""A synthetic task: name the colour that a segment, or the whole sequence, has shown most often."""

from __future__ import annotations

from dataclasses import dataclass

import torch

COLOURS = 4
ASK_HERE, ASK_EVER = COLOURS, COLOURS + 1
"""Tokens that ask for the most frequent colour of this segment so far, or of the sequence so far."""

SYMBOLS, LABELS = COLOURS + 2, COLOURS
LONGEST = 24


@dataclass(frozen=True)
class Batch:
    """Sequences, padded at their end.

    Attributes:
        tokens: shape (batch, LONGEST).
        real: False for padding, same shape.
        starts: True for the first token of a segment, same shape.
        answers: the label of tokens that ask, -1 elsewhere, same shape.
    """

    tokens: torch.Tensor
    real: torch.Tensor
    starts: torch.Tensor
    answers: torch.Tensor


def sample(count: int, generator: torch.Generator) -> Batch:
    """Draw sequences of segments, each of which prefers one colour."""
    shape = (count, LONGEST)
    tokens, answers = torch.zeros(shape, dtype=torch.long), torch.full(shape, -1)
    starts = torch.rand(shape, generator=generator) < 0.15
    starts[:, 0] = True
    lengths = torch.randint(LONGEST // 2, LONGEST + 1, (count, 1), generator=generator)
    real = torch.arange(LONGEST) < lengths
    draws = torch.rand(shape, generator=generator)
    colours = torch.randint(COLOURS, shape, generator=generator)
    here, ever = torch.zeros(count, COLOURS), torch.zeros(count, COLOURS)
    preferred = colours[:, 0]
    rows = torch.arange(count)
    for step in range(LONGEST):
        begins = starts[:, step]
        preferred = torch.where(begins, colours[:, step], preferred)
        here = here * ~begins[:, None]
        colour = torch.where(draws[:, step] < 0.5, preferred, colours[:, step])
        asks_here, asks_ever = draws[:, step] > 0.85, (draws[:, step] > 0.7) & (draws[:, step] <= 0.85)
        tokens[:, step] = torch.where(asks_here, ASK_HERE, torch.where(asks_ever, ASK_EVER, colour))
        counts = torch.where(asks_here[:, None], here, ever)
        best, answer = counts.max(dim=1)
        known = (asks_here | asks_ever) & ((counts == best[:, None]).sum(dim=1) == 1)
        answers[:, step] = torch.where(known, answer, -1)
        shown = (~(asks_here | asks_ever)).float()
        here[rows, colour] += shown
        ever[rows, colour] += shown
    tokens[~real] = 0
    answers[~real] = -1
    return Batch(tokens, real, starts, answers)

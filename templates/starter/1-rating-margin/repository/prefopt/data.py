"""Synthetic preference pairs over a language in which every token has one right successor."""

from __future__ import annotations

from dataclasses import dataclass

import torch

VOCABULARY = 20
END = VOCABULARY
"""Token that ends a response; the tokens of the language are 0 … VOCABULARY - 1."""

PAD = VOCABULARY + 1
LONGEST = 10
"""Most tokens of a response, the end token not counted."""


@dataclass(frozen=True)
class Pairs:
    """Preference pairs.

    Attributes:
        prompts: first token of both responses, shape (pairs,).
        chosen, rejected: responses with their end token, padded with PAD, shape (pairs, LONGEST + 1).
        rating_gap: difference of the responses' ratings, in (0, 1], shape (pairs,).
    """

    prompts: torch.Tensor
    chosen: torch.Tensor
    rejected: torch.Tensor
    rating_gap: torch.Tensor

    def batch(self, rows: torch.Tensor) -> Pairs:
        """The pairs with the given row numbers."""
        return Pairs(self.prompts[rows], self.chosen[rows], self.rejected[rows], self.rating_gap[rows])


def successors(generator: torch.Generator) -> torch.Tensor:
    """The grammar: the right successor of each token, shape (VOCABULARY,)."""
    return torch.randperm(VOCABULARY, generator=generator)


def sample_pairs(right: torch.Tensor, count: int, generator: torch.Generator) -> Pairs:
    """Draw preference pairs.

    Both responses follow the grammar except where a token was replaced by a random one. The rating
    of a response is the share of its tokens that were not replaced. The response with the higher
    rating is preferred; both lengths are drawn freely, so that length says nothing.

    Args:
        right: the grammar, from :func:`successors`.
        count: number of pairs.
        generator: source of randomness.
    """
    prompts = torch.randint(VOCABULARY, (count,), generator=generator)
    first, first_rating = _responses(right, prompts, 0.1, generator)
    second, second_rating = _responses(right, prompts, 0.6, generator)
    swap = (second_rating > first_rating)[:, None]
    gap = (first_rating - second_rating).abs().clamp(min=0.05)
    return Pairs(prompts, torch.where(swap, second, first), torch.where(swap, first, second), gap)


def _responses(
    right: torch.Tensor, prompts: torch.Tensor, noise: float, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Responses with replaced tokens, shape (count, LONGEST + 1), and their ratings, shape (count,)."""
    count = len(prompts)
    sizes = torch.randint(3, LONGEST + 1, (count,), generator=generator)
    tokens = torch.full((count, LONGEST + 1), PAD)
    replaced = torch.zeros(count)
    token = prompts
    for position in range(LONGEST):
        wrong = torch.rand(count, generator=generator) < noise
        other = torch.randint(VOCABULARY, (count,), generator=generator)
        token = torch.where(wrong, other, right[token])
        inside = position < sizes
        tokens[:, position] = torch.where(inside, token, PAD)
        replaced += (wrong & inside).float()
    tokens[torch.arange(count), sizes] = END
    return tokens, 1.0 - replaced / sizes

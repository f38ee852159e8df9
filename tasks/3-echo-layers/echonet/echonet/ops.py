"""Pieces that the layer is made of."""

from __future__ import annotations

from typing import NamedTuple

import torch


class EchoState(NamedTuple):
    """What a layer carries from one chunk of a sequence to the next.

    Attributes:
        memory: decayed sum of the values of each head, shape (batch, heads, size).
        mass: decayed number of the tokens in it, shape (batch, heads).
    """

    memory: torch.Tensor
    mass: torch.Tensor

    @classmethod
    def empty(cls, batch: int, heads: int, size: int) -> EchoState:
        """The state before the first token."""
        return cls(torch.zeros(batch, heads, size), torch.zeros(batch, heads))


def rms_norm(x: torch.Tensor, weight: torch.Tensor, epsilon: float = 1e-6) -> torch.Tensor:
    """Scale the last axis to a root mean square of 1, then by the weight."""
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + epsilon) * weight


def split_heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """From (…, width) to (…, heads, width // heads)."""
    return x.unflatten(-1, (heads, -1))


def mean_of(state: EchoState) -> torch.Tensor:
    """The weighted mean of what is in each memory, shape (batch, heads, size); 0 where it is empty."""
    return state.memory / state.mass.clamp(min=1e-6)[..., None]

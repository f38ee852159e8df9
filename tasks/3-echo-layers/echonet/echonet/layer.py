"""The echo layer."""

from __future__ import annotations

import torch
from torch import nn

from echonet.ops import EchoState, mean_of, rms_norm, split_heads


class EchoLayer(nn.Module):
    """A residual layer with one decaying memory for each head.

    Args:
        width: size of a token's vector.
        heads: number of memories; divides the width.
        carry: whether a memory survives the beginning of a segment in part; False clears it.
        trust: whether the choice among memories knows how full they are.
        gated: whether the echo passes a gate.
    """

    def __init__(
        self, width: int, heads: int, *, carry: bool = True, trust: bool = True, gated: bool = True
    ) -> None:
        super().__init__()
        self.heads, self.carry, self.trust, self.gated = heads, carry, trust, gated
        self.norm = nn.Parameter(torch.ones(width))
        self.value = nn.Linear(width, width, bias=False)
        self.query = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(2 * width, width)
        self.decay = nn.Parameter(torch.linspace(0.0, 4.0, heads))
        self.leak = nn.Parameter(torch.zeros(heads))

    def forward(
        self,
        x: torch.Tensor,
        real: torch.Tensor,
        starts: torch.Tensor,
        state: EchoState | None = None,
    ) -> tuple[torch.Tensor, EchoState]:
        """Add to each token the echo of those before it (section 2 of the paper).

        Args:
            x: tokens, shape (batch, time, width).
            real: False for padding, shape (batch, time).
            starts: True for the first token of a segment, shape (batch, time).
            state: what an earlier chunk of the same sequences left; None at their beginning.

        Returns:
            The new tokens, shape (batch, time, width), with padding as it was, and the state after the
            last token.
        """
        # TODO: implement forward.
        raise NotImplementedError

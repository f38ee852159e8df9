"""A tagger."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from echonet.data import LABELS, SYMBOLS
from echonet.layer import EchoLayer
from echonet.ops import EchoState


class EchoTagger(nn.Module):
    """An embedding, two echo layers and a linear layer over the labels."""

    def __init__(self, width: int, heads: int, **options: Any) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, width)
        self.layers = nn.ModuleList(EchoLayer(width, heads, **options) for _ in range(2))
        self.output = nn.Linear(width, LABELS)

    def forward(
        self, tokens: torch.Tensor, real: torch.Tensor, starts: torch.Tensor, chunk: int
    ) -> torch.Tensor:
        """Logits of every token's label, shape (batch, time, LABELS), reading ``chunk`` tokens at a time."""
        states: list[EchoState | None] = [None] * len(self.layers)
        found = []
        for begin in range(0, tokens.shape[1], chunk):
            part = slice(begin, begin + chunk)
            x = self.embedding(tokens[:, part])
            for place, layer in enumerate(self.layers):
                x, states[place] = layer(x, real[:, part], starts[:, part], states[place])
            found.append(self.output(x))
        return torch.cat(found, dim=1)


class RecurrentTagger(nn.Module):
    """The same with one GRU, which is told of starts by an embedding."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, width)
        self.start = nn.Embedding(2, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.output = nn.Linear(width, LABELS)

    def forward(
        self, tokens: torch.Tensor, real: torch.Tensor, starts: torch.Tensor, chunk: int
    ) -> torch.Tensor:
        """Logits of every token's label, shape (batch, time, LABELS)."""
        hidden, _ = self.rnn(self.embedding(tokens) + self.start(starts.long()))
        logits: torch.Tensor = self.output(hidden)
        return logits

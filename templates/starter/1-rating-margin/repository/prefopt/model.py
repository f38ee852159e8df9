"""A tiny recurrent language model."""

from __future__ import annotations

import torch
from torch import nn

from prefopt.data import END, LONGEST, PAD, VOCABULARY


class Policy(nn.Module):
    """Embedding, one GRU layer, and a linear layer over the tokens and END."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY + 2, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.output = nn.Linear(width, VOCABULARY + 1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits of the next token, shape (batch, time, VOCABULARY + 1), from tokens (batch, time)."""
        hidden, _ = self.rnn(self.embedding(tokens))
        logits: torch.Tensor = self.output(hidden)
        return logits

    def score(self, prompts: torch.Tensor, responses: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probability of each response given its prompt, and its number of tokens.

        Args:
            prompts: shape (batch,).
            responses: padded with PAD, shape (batch, time).

        Returns:
            Summed log-probabilities and token counts (END included), each of shape (batch,).
        """
        inputs = torch.cat([prompts[:, None], responses[:, :-1]], dim=1)
        real = responses != PAD
        table = self(inputs).log_softmax(dim=-1)
        picked = table.gather(2, responses.masked_fill(~real, END)[:, :, None])[:, :, 0]
        return picked.masked_fill(~real, 0.0).sum(dim=1), real.sum(dim=1)

    @torch.no_grad()
    def sample(self, prompts: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Draw responses, padded with PAD after END, shape (batch, LONGEST)."""
        tokens = prompts[:, None]
        for _ in range(LONGEST):
            shares = self(tokens)[:, -1].softmax(dim=-1)
            tokens = torch.cat([tokens, torch.multinomial(shares, 1, generator=generator)], dim=1)
        response = tokens[:, 1:]
        ended = (response == END).cumsum(dim=1) - (response == END).long()
        return response.masked_fill(ended > 0, PAD)

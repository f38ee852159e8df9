"""Reproduce the paper's table: tagging a synthetic language under six settings.

    python train.py                         a quick look: one run of 2 steps per row
    python train.py --steps 150 --seeds 3   the table of the paper
    python train.py --json                  print JSON instead of a table
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from echonet.data import ASK_HERE, Batch, sample
from echonet.model import EchoTagger, RecurrentTagger

SETTINGS: tuple[tuple[str, Callable[[int], nn.Module]], ...] = (
    ("GRU", RecurrentTagger),
    ("one memory, cleared", lambda width: EchoTagger(width, 1, carry=False, trust=False, gated=False)),
    ("four memories, cleared", lambda width: EchoTagger(width, 4, carry=False, trust=False, gated=False)),
    ("+ carry", lambda width: EchoTagger(width, 4, trust=False, gated=False)),
    ("+ trust", lambda width: EchoTagger(width, 4, gated=False)),
    ("+ gate", lambda width: EchoTagger(width, 4)),
)


def shares(model: nn.Module, batch: Batch) -> list[float]:
    """Share of right answers to both questions: of the segment, and of the sequence."""
    with torch.no_grad():
        named = model(batch.tokens, batch.real, batch.starts, chunk=12).argmax(dim=-1)
    right = (named == batch.answers).float()
    here = (batch.answers >= 0) & (batch.tokens == ASK_HERE)
    ever = (batch.answers >= 0) & (batch.tokens != ASK_HERE)
    return [float(right[here].mean()), float(right[ever].mean())]


def run(make: Callable[[int], nn.Module], seed: int, steps: int, rows: int, width: int) -> list[float]:
    """Train one model and test it on other sequences."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = make(width)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        batch = sample(rows, generator)
        logits = model(batch.tokens, batch.real, batch.starts, chunk=12)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.answers.flatten(), ignore_index=-1)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return shares(model, sample(4 * rows, generator))


def table(steps: int, seeds: int, rows: int, width: int) -> list[list[str]]:
    """One row per setting: its name, then mean and (of several seeds) standard error for both questions."""
    found = []
    for name, make in SETTINGS:
        scores = 100 * torch.tensor([run(make, seed, steps, rows, width) for seed in range(seeds)])
        texts = [f"{mean:.1f}" for mean in scores.mean(dim=0).tolist()]
        if seeds > 1:
            errors = (scores.std(dim=0) / seeds**0.5).tolist()
            texts = [f"{text} ± {error:.1f}" for text, error in zip(texts, errors)]
        found.append([name, *texts])
    return found


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2, help="steps of training (default: 2)")
    parser.add_argument("--seeds", type=int, default=1, help="runs per row (default: 1)")
    parser.add_argument("--rows", type=int, default=4, help="sequences of a batch (default: 4)")
    parser.add_argument("--width", type=int, default=8, help="size of a token's vector (default: 8)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = table(options.steps, options.seeds, options.rows, options.width)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'setting':<26}{'segment, %':>16}{'sequence, %':>16}")
    for name, segment, sequence in rows:
        print(f"{name:<26}{segment:>16}{sequence:>16}")


if __name__ == "__main__":
    main()

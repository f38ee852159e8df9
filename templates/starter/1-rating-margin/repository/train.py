"""Reproduce the paper's table: preference training of a tiny policy under seven settings.

    python train.py                         a quick look: one run of 20 steps per row
    python train.py --steps 80 --seeds 6    the table of the paper
    python train.py --json                  print JSON instead of a table
"""

from __future__ import annotations

import argparse
import copy
import json
from dataclasses import dataclass, field
from typing import Any

import torch

from prefopt.data import END, PAD, Pairs, VOCABULARY, sample_pairs, successors
from prefopt.losses import rating_margin_loss
from prefopt.model import Policy


@dataclass(frozen=True)
class Setting:
    """One row of the table: a name, the options of the loss, and whether a reference is used."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    with_reference: bool = False


SETTINGS = (
    Setting("summed log-probabilities", {"length_power": 0.0}),
    Setting("length-normalised", {}),
    Setting("+ rating margin", {"margin": 1.0}),
    Setting("+ smoothing", {"margin": 1.0, "smoothing": 0.3}),
    Setting("+ anchor", {"margin": 1.0, "smoothing": 0.3, "anchor": 0.2}),
    Setting("the same, hinge", {"margin": 1.0, "smoothing": 0.3, "anchor": 0.2, "kind": "hinge"}),
    Setting("the same, with reference", {"margin": 1.0, "smoothing": 0.3, "anchor": 0.2}, with_reference=True),
)


def imitate(policy: Policy, pairs: Pairs, steps: int, generator: torch.Generator) -> None:
    """Supervised start: raise the likelihood of both responses of random pairs, in place."""
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for _ in range(steps):
        batch = pairs.batch(torch.randint(len(pairs.prompts), (32,), generator=generator))
        logps, lengths = policy.score(batch.prompts.repeat(2), torch.cat([batch.chosen, batch.rejected]))
        optimizer.zero_grad()
        (-logps.sum() / lengths.sum()).backward()
        optimizer.step()


def prefer(policy: Policy, pairs: Pairs, setting: Setting, steps: int, generator: torch.Generator) -> None:
    """Preference training on random batches of pairs, in place."""
    frozen = copy.deepcopy(policy) if setting.with_reference else None
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for _ in range(steps):
        batch = pairs.batch(torch.randint(len(pairs.prompts), (16,), generator=generator))
        chosen, chosen_lengths = policy.score(batch.prompts, batch.chosen)
        rejected, rejected_lengths = policy.score(batch.prompts, batch.rejected)
        reference = None
        if frozen is not None:
            with torch.no_grad():
                reference = (
                    frozen.score(batch.prompts, batch.chosen)[0],
                    frozen.score(batch.prompts, batch.rejected)[0],
                )
        losses, _, _ = rating_margin_loss(
            chosen, rejected, chosen_lengths, rejected_lengths, batch.rating_gap, reference, **setting.options
        )
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()


@torch.no_grad()
def judge(policy: Policy, right: torch.Tensor, generator: torch.Generator) -> tuple[float, float]:
    """Share of right transitions in sampled responses, and their mean length in tokens."""
    prompts = torch.arange(VOCABULARY).repeat(20)
    responses = policy.sample(prompts, generator)
    before = torch.cat([prompts[:, None], responses[:, :-1]], dim=1)
    token = (responses != PAD) & (responses != END)
    correct = right[before.clamp(max=VOCABULARY - 1)] == responses
    return float(correct[token].float().mean()), float(token.sum(dim=1).float().mean())


def run(seed: int, steps: int) -> list[tuple[float, float]]:
    """The supervised start and every setting once, from the same start. One (share, length) each."""
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    right = successors(generator)
    pairs = sample_pairs(right, 512, generator)
    start = Policy()
    imitate(start, pairs, 40, generator)
    scores = [judge(start, right, torch.Generator().manual_seed(seed))]
    for setting in SETTINGS:
        policy = copy.deepcopy(start)
        prefer(policy, pairs, setting, steps, torch.Generator().manual_seed(seed))
        scores.append(judge(policy, right, torch.Generator().manual_seed(seed)))
    return scores


def table(steps: int, seeds: int) -> list[list[str]]:
    """One row per setting: its name, then mean and (of several seeds) standard error of both measures."""
    scores = torch.tensor([run(seed, steps) for seed in range(seeds)])
    scores[:, :, 0] *= 100
    names = ["supervised start", *(setting.name for setting in SETTINGS)]
    means = scores.mean(dim=0).tolist()
    if seeds == 1:
        return [[name, *(f"{mean:.1f}" for mean in row)] for name, row in zip(names, means)]
    errors = (scores.std(dim=0) / seeds**0.5).tolist()
    return [
        [name, *(f"{mean:.1f} ± {error:.1f}" for mean, error in zip(row, error_row))]
        for name, row, error_row in zip(names, means, errors)
    ]


def main() -> None:
    """Run every row of the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20, help="preference steps per row (default: 20)")
    parser.add_argument("--seeds", type=int, default=1, help="runs per row (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = table(options.steps, options.seeds)
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'setting':<28}{'right transitions, %':>22}{'length':>14}")
    for name, share, length in rows:
        print(f"{name:<28}{share:>22}{length:>14}")


if __name__ == "__main__":
    main()

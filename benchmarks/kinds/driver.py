"""Runs one kind of target on various inputs, as a training or evaluation script would."""

import asyncio
import random
import sys

import numpy as np
import pandas as pd
import torch
from kinds import attention, augment, data, decoding, frames, jobs, losses, metrics, optim, serve
from torch import nn
from torch.utils.data import DataLoader

WORDS = "The the a An quick Quick brown fox Fox, jumps over lazy dog dog, sat on mat mat. One one, two Two".split()


def sentence(most):
    """Up to some words."""
    return " ".join(random.choice(WORDS) for _ in range(random.randint(0, most)))


def run_losses():
    for i in range(200):
        a, b, c, d = (torch.randn(4 + i % 3) for _ in range(4))
        a.requires_grad_()
        b.requires_grad_()
        loss, *_ = losses.preference_loss(
            a, b, c, d, 0.1 + 0.1 * (i % 2), label_smoothing=0.1 * (i % 4 == 3), ipo=i % 5 == 4,
            reference_free=i % 7 == 6,
        )  # fmt: skip
        loss.mean().backward()


def run_optim():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Linear(1, 1))
    groups = [
        {"params": [*net[3].parameters(), *net[0].parameters()]},
        {"params": net[2].parameters(), "lr": 0.02},
    ]
    optimizer = optim.Lion(groups, lr=0.01, weight_decay=0.1)

    def closure():
        optimizer.zero_grad()
        loss = net[:3](torch.randn(8, 4)).pow(2).mean()
        loss.backward()
        return loss

    for _ in range(10):
        closure()
        optimizer.step()


def run_attention():
    layer = attention.SelfAttention(16, 4)
    for i in range(10):
        x = torch.randn(2, 5, 16, requires_grad=True)
        y, _ = layer(x, torch.arange(5)[None] < torch.tensor([[5], [3]]) if i % 2 else None)
        y.sum().backward()
    layer.eval()
    with torch.no_grad():
        layer(torch.randn(1, 3, 16))
    attention.SelfAttention(16, 2, causal=False).eval()(torch.randn(2, 4, 16).transpose(0, 1))


def run_decoding():
    model = nn.Sequential(nn.Embedding(12, 8), nn.Linear(8, 12))
    for i in range(8):
        decoding.beam_search(model, i, 1 + i % 4, 6, eos=11 - i, penalty=0.5 * (i % 4))
    generator = torch.Generator().manual_seed(3)
    for i in range(20):
        logits = torch.randn(3, 20) * (1 + i % 3)
        decoding.sample_top_p(logits, 0.1 + 0.04 * i, 1.0 + i * 0.2, generator if i % 2 else None)


def run_metrics():
    for i in range(200):
        references = [sentence(5) for _ in range(1 + i % 4)]
        metrics.token_f1(random.choice(references) if i % 3 == 0 else sentence(6), references)
    for text in ("bleu:1,2,3", "x:", " rouge :0.5,0.5", "z:0,2,2", "chrf : 0.25,,4"):
        metrics.Scorer.build(text).entropy


def run_frames():
    for n in range(12):
        table = pd.DataFrame(
            {
                "model": [f"m{k % (1 + n % 4)}" for k in range(8)],
                "metric": ["f1", "em"] * 4,
                "score": np.random.normal(50, 40, 8),
                "split": ["x", "y", None if n % 3 else "x", "x", "y", "y", "x", "y"],
            }
        )
        if n % 2:
            table.loc[n % 8, "score"] = np.nan
        frames.pivot_scores(table, by="split" if n % 4 == 2 else "model", normalise=n % 5 != 3)


def run_augment():
    for n in range(8):
        augment.augment(["the", "quick", "brown", "fox", "jumps", "over"][: 1 + n], 0.5, 0.2 + 0.1 * n)
    rng = np.random.default_rng(5)
    for n in range(6):
        augment.mask_spans_(list(range(3 + n * 3)), 0.1 * n, -1, rng)
    augment.mask_spans_(np.arange(12), 0.4, 0, rng)
    for n in range(5):
        list(augment.windows(list(range(n * 3)), 4, 2))


def run_serve():
    answers = [serve.Fixed("HI"), serve.Upper(), serve.Fixed("no"), serve.Upper(delay=0.6), serve.Fixed("no")]
    for number in range(len(answers) + 1):
        asyncio.run(serve.gather_votes("hi", answers[:number]))
    asyncio.run(serve.gather_votes("hi", answers[1:4], timeout=0.1))
    asyncio.run(serve.gather_votes("hi", [serve.Fixed(text) for text in ("d", "b", "e", "a", "c")]))
    for warmup, total in ((3, 10), (0, 0), (1, 2), (2, 30)):
        factor = serve.make_schedule(warmup, total)
        for step in range(14):
            factor(step)


def run_loader():
    for _ in DataLoader(data.Pairs(24, 6), batch_size=4, num_workers=2):
        pass


def run_jobs():
    jobs.run_all(["bb", "a", "dddd", "ccc", "aa", "e", "ffff"], 3)


if __name__ == "__main__":
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    for word in sys.argv[1:]:
        globals()[f"run_{word}"]()

"""A task whose goal file is written by a test."""

from __future__ import annotations

import json
from pathlib import Path

from lmr_author.task import Task
from tests import example as example_task
from tests import example as example_texts

GOLDEN = '''\
import torch
import torch.nn as nn
import torch.nn.functional as F
from helpers import *


def cosine(a, b):
    return F.cosine_similarity(a, b, dim=-1)


class Encoder(nn.Module):
    """Encoder."""

    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, tokens):
        return self.linear(tokens)


class ContrastiveLoss(nn.Module):
    """Loss."""

    def __init__(self, temperature=0.05):
        super().__init__()
        self.temperature = temperature

    @torch.no_grad()
    def forward(self, anchors, positives, reduction="mean"):
        """In-batch contrastive loss."""
        similarity = cosine(anchors.unsqueeze(1), positives.unsqueeze(0)) / self.temperature
        targets = torch.arange(similarity.size(0), device=similarity.device)
        losses = F.cross_entropy(similarity, targets, reduction="none")
        if reduction == "mean":
            return losses.mean()
        return losses, similarity
'''


TEST = """\
import sys, os, torch
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ranking.losses import ContrastiveLoss

loss = ContrastiveLoss()(torch.ones(2, 3), torch.ones(2, 3))
assert abs(float(loss) - 0.6931) < 1e-3
print("Passed")
"""


BODY = GOLDEN.partition('loss."""\n')[2]


def body(text: str) -> str:
    """The golden with another body of ContrastiveLoss.forward."""
    lines = "".join(f"        {line}\n" if line else "\n" for line in text.splitlines())
    return GOLDEN.replace(BODY, lines)


def write(folder: Path, goal: str, **implementation: object) -> Task:
    task = example_task.write(folder)
    repository = task.root / example_texts.REPOSITORY
    (repository / "ranking" / "losses.py").write_bytes(goal.encode())
    (repository / "ranking" / "train.py").write_text("from ranking.losses import ContrastiveLoss\n")
    (repository / "unit_test" / "unit_test_1.py").write_text(TEST)
    (task.root / "golden_files" / "losses_golden.py").write_text(GOLDEN)
    info = task.load_raw()
    info["implementations"][0] |= {
        "goal_function": "forward",
        "class_name": "ContrastiveLoss",
        "instruction": "Implement `ContrastiveLoss.forward` in `ranking/losses.py`, section 3 of the paper; return it.",
        **implementation,
    }
    task.info_path.write_text(json.dumps(info))
    return task

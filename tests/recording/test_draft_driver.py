"""Drafted drivers: they run as they are, and what they call is recorded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.masking import MaskOptions, mask
from lmr_author.recording.record import RecordOptions, draft, record
from tests.pipeline import quiet
from tests.support import make_task, write_files

LOSS = '''
import torch
import torch.nn.functional as F


def smoothed_loss(logits, labels, mask=None, smoothing=0.1, reduction: str = "mean", from_probs=False):
    """Label smoothing.

    Args:
        mask: tokens that count, of shape (batch_size, seq_len)
    """
    bsz, seq_len, vocab = logits.shape
    scores = torch.log(logits.softmax(-1)) if from_probs else F.log_softmax(logits, -1)
    loss = (1 - smoothing) * F.nll_loss(scores.view(-1, vocab), labels.view(-1), reduction="none")
    loss = loss.view(bsz, seq_len) - smoothing * scores.mean(-1)
    if mask is not None:
        loss = loss * mask
    return loss.sum() if reduction == "sum" else loss.mean()
'''
ATTENTION = """
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.1, scaled=True):
        super().__init__()
        self.heads, self.scaled = n_heads, scaled
        self.project, self.dropout = nn.Linear(d_model, 3 * d_model), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        batch, length, dim = x.size()
        q, k, v = self.project(x).view(batch, length, self.heads, -1).transpose(1, 2).chunk(3, dim=-1)
        scores = q @ k.transpose(-2, -1) / (k.size(-1) ** 0.5 if self.scaled else 1)
        if mask is not None:
            scores = scores + mask.float().mean() - 1
        return (self.dropout(scores.softmax(-1)) @ v).transpose(1, 2).reshape(batch, length, dim)
"""
OPTIMIZER = '''
import torch


class Sign(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self, closure=None):
        """One step along the signs."""
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad.sign(), alpha=-group["lr"])
'''
TRAINER = """
import torch
from elsewhere import Trainer


class PreferenceTrainer(Trainer):
    def __init__(self, model, dataset, **options):
        super().__init__(model, dataset, **options)

    def preference_loss(self, chosen_logps, rejected_logps):
        gap = self.beta * (chosen_logps - rejected_logps)
        return -torch.nn.functional.logsigmoid(gap) * (1 - self.label_smoothing)
"""
METRIC = '''
def overlap(predictions, references, lower=False):
    """Mean share of the words of the references."""
    shares = []
    for prediction, reference in zip(predictions, references):
        prediction, reference = (text.lower() if lower else text for text in (prediction, reference))
        words = reference.split()
        shares.append(sum(word in prediction.split() for word in words) / len(words))
    return sum(shares) / len(shares)
'''
METRIC_TEST = """
from metric import overlap


def test_overlap():
    predictions = ["a b", "c"]
    assert overlap(predictions, ["A b", "d"]) == 0.25
"""
AUGMENT = '''
import random


def swap(words, n, keep_first=False):
    """Swap words."""
    words = list(words)
    for _ in range(n):
        a, b = random.sample(range(int(keep_first), len(words)), 2)
        words[a], words[b] = words[b], words[a]
        yield " ".join(words)
'''
CONFIG = '''
def schedule(config, step: int):
    """The rate of a step."""
    if step < config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    return config.learning_rate * config.gamma ** (step - config.warmup_steps)
'''
KINDS = {
    "loss": ({"loss.py": LOSS}, "loss.py::smoothed_loss", [
        "torch.randint(vocab, (batch, length))", "inputs(reduction='sum')", "inputs(from_probs=True)",
        "(mask=(torch.arange",
    ]),
    "module": ({"attention.py": ATTENTION}, "attention.py::Attention.forward", [
        "Attention(d_model=dim, n_heads=heads)", "scaled=False)(**inputs())", "attention.eval()",
    ]),
    "optimizer": ({"sign.py": OPTIMIZER}, "sign.py::Sign.step", ["parameter.grad = torch.randn_like(parameter)"]),
    "trainer": (
        {"trainer.py": TRAINER, "elsewhere.py": "class Trainer:\n    pass\n",
         "base.yaml": "loss: {beta: 0.3}\n"},
        "trainer.py::PreferenceTrainer.preference_loss",
        ["object.__new__(PreferenceTrainer)", "trainer.beta = 0.3", '"chosen_logps": -5 * torch.rand(batch)'],
    ),
    "metric": ({"metric.py": METRIC, "tests/test_metric.py": METRIC_TEST}, "metric.py::overlap", [
        "overlap(['a b', 'c'], ['A b', 'd'])", "['A b', 'd'], lower=True)",
    ]),
    "augmentation": ({"eda/augment.py": AUGMENT}, "eda/augment.py::swap", [
        'sys.path.insert(0, "eda")', "list(swap(**inputs(keep_first=True)))", "random.seed(0)",
    ]),
    "config": (
        {"rates.py": CONFIG, "run.py": 'parser.add_argument("--learning-rate", default=0.02)\n'},
        "rates.py::schedule", ["types.SimpleNamespace(gamma=0.5, learning_rate=0.02, warmup_steps=2)"],
    ),
}  # fmt: skip


@pytest.mark.bwrap
@pytest.mark.torch
@pytest.mark.timeout(400)
@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_runs_as_it_is(kind: str, tmp_path: Path) -> None:
    files, target, expected = KINDS[kind]
    task = make_task(tmp_path / "tasks")
    write_files(task.root / "small-repo", files)
    mask(task, MaskOptions((target,)), task.root)
    path = tmp_path / "driver.py"

    drafted = draft(task, None, task.root, path)
    path.write_text(drafted.text)
    result = record(task, RecordOptions(None, ("python", "driver.py")), tmp_path, quiet)

    assert [text for text in expected if text not in drafted.text] == [], drafted.text
    assert f"lmr-author record {target} -- python" in drafted.text
    assert drafted.unknown == () and result.exit_code == 0
    assert result.recording.calls == drafted.calls
    assert {case.outcome for case in result.recording.cases} == {"returned"}


def lmr_author(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lmr_author", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_an_unknown_value_is_left_to_the_annotator_and_a_file_is_not_overwritten(tmp_path: Path) -> None:
    task = make_task(tmp_path / "tasks")
    write_files(task.root / "small-repo", {"a.py": "def f(zorp, beta=0.1):\n    return zorp.quux() * beta\n"})
    mask(task, MaskOptions(("a.py::f",)), task.root)
    words = ("record", "a.py::f", "--draft-driver", "driver.py")

    done = lmr_author(task.root, *words)
    assert done.returncode == 0 and "TODO zorp" in done.stderr
    text = (task.root / "driver.py").read_text()
    assert '"zorp": ...,  # TODO' in text and "inputs(beta=0.2)" in text
    assert lmr_author(task.root, *words).returncode == 2
    assert lmr_author(task.root, *words, "--force").returncode == 0
    assert (task.root / "driver.py").read_text() == text

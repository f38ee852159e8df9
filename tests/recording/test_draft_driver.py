"""Drafted drivers: they run as they are, and what they call is recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.authoring.recording.draft_driver import DriverDraft, draft, draft_driver
from lmr_author.core import code
from lmr_author.core.task import Target
from tests.cli.program import lmr_forked, succeed
from tests.pipeline import recorded
from tests.support import make_task, write_files

LOSS = '''
import torch.nn.functional as F


def smoothed_loss(logits, labels, smoothing=0.1, reduction: str = "mean", from_probs=False):
    """Label smoothing.

    Args:
        logits: scores, of shape (batch_size, seq_len, vocab)
    """
    scores = logits.softmax(-1).log() if from_probs else F.log_softmax(logits, -1)
    loss = (1 - smoothing) * F.nll_loss(scores.flatten(0, 1), labels.flatten(), reduction="none")
    return loss.sum() if reduction == "sum" else loss.mean()
'''
ATTENTION = """
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model: int, n_heads, scaled=True):
        super().__init__()

    def forward(self, x, mask=None):
        return x
"""
AUGMENT = '''
import random
from typing import List


def swap(words: List[str], n: int, keep_first=False):
    """Swap words."""
    words = list(words)
    for _ in range(n):
        a, b = random.sample(range(int(keep_first), len(words)), 2)
        words[a], words[b] = words[b], words[a]
        yield " ".join(words)
'''
SCRIPT = """
def scale(x: int):
    return x * args.rate


if __name__ == "__main__":
    args = parse()
"""
SCHEDULE = """
def schedule(step: int, learning_rate: float, warm: bool = False):
    return learning_rate * step / 10 * (2 if warm else 1)
"""
RUNNING = {
    "augmentation": (
        {"eda/augment.py": AUGMENT, "use.py": "swap(words, n)\n"}, "eda/augment.py::swap", [
            'sys.path.insert(0, "eda")', "list(swap(**inputs(keep_first=True)))", "random.seed(0)",
        ],
    ),
    "imported from the root": (
        {"eda/augment.py": AUGMENT, "run.py": "from eda.augment import swap\n"}, "eda/augment.py::swap", [
            "\nfrom eda.augment import swap\n", "list(swap(**inputs(keep_first=True)))",
        ],
    ),
    "plain parameters": (
        {"rates.py": SCHEDULE},
        "rates.py::schedule", ['"step": 2', '"learning_rate": 0.5', "inputs(warm=True)"],
    ),
}  # fmt: skip
TO_COMPLETE = {
    "loss": ({"loss.py": LOSS}, "loss.py::smoothed_loss", ("logits", "labels"), [
        '"logits": ...,  # TODO',
        "inputs(from_probs=True)", "inputs(smoothing=0.2)",
    ]),
    "module": ({"attention.py": ATTENTION}, "attention.py::Attention.forward", ("x",), [
        "instance = Attention(...)  # TODO", "instance(**inputs())",
    ]),
    "global": (
        {"train.py": SCRIPT},
        "train.py::scale", ("args",), ["train.args = ...  # TODO", "scale(**inputs())"],
    ),
}  # fmt: skip


def drafted_from(files: dict[str, str], target: str, folder: Path) -> DriverDraft:
    path = target.partition("::")[0]
    root = write_files(folder / "repo", files)
    module = code.Module.parse((root / path).read_bytes(), path)
    return draft_driver(root, module, code.find(module, Target.parse(target)), "command")


@pytest.mark.parametrize("kind", RUNNING)
def test_a_draft_of_plain_calls_runs_as_it_is(kind: str, tmp_path: Path) -> None:
    files, target, expected = RUNNING[kind]
    drafted = drafted_from(files, target, tmp_path)

    (tmp_path / "driver.py").write_text(drafted.text)
    variables = {**os.environ, "PYTHONPATH": str(tmp_path / "repo")}
    command = [sys.executable, tmp_path / "driver.py"]
    done = subprocess.run(command, cwd=tmp_path / "repo", env=variables, capture_output=True, text=True)
    assert done.returncode == 0, f"{drafted.text}\n{done.stderr}"
    assert [text for text in expected if text not in drafted.text] == [], drafted.text
    assert drafted.unknown == () and f"Drives {target.partition('::')[2]} of" in drafted.text


@pytest.mark.parametrize("kind", TO_COMPLETE)
def test_a_draft_marks_the_values_to_complete(kind: str, tmp_path: Path) -> None:
    files, target, unknown, expected = TO_COMPLETE[kind]
    drafted = drafted_from(files, target, tmp_path)
    assert [text for text in expected if text not in drafted.text] == [], drafted.text
    assert drafted.unknown == unknown
    compile(drafted.text, "driver.py", "exec")


def test_an_unknown_value_is_left_to_the_annotator_and_a_file_is_not_overwritten(tmp_path: Path) -> None:
    task = make_task(tmp_path / "tasks")
    write_files(task.root / "small-repo", {"a.py": "def f(zorp, beta=0.1):\n    return zorp.quux() * beta\n"})
    mask(task, MaskOptions(("a.py::f",)), task.root)
    words = ("record", "a.py::f", "--draft-driver", "driver.py")

    assert "TODO zorp" in succeed(*words, cwd=task.root).err
    text = (task.root / "driver.py").read_text()
    assert '"zorp": ...,  # TODO' in text and "inputs(beta=0.2)" in text
    assert lmr_forked(*words, cwd=task.root).code == 2
    succeed(*words, "--force", cwd=task.root)
    assert (task.root / "driver.py").read_text() == text


@pytest.mark.bwrap
def test_the_calls_of_a_draft_are_recorded(tmp_path: Path) -> None:
    files, target, _ = RUNNING["plain parameters"]
    task = make_task(tmp_path / "tasks")
    write_files(task.root / "small-repo", files)
    mask(task, MaskOptions((target,)), task.root)
    drafted = draft(task, None, task.root, tmp_path / "driver.py")
    (tmp_path / "driver.py").write_text(drafted.text)
    result = recorded(task, target, "python", "driver.py", here=tmp_path)
    assert f"lmr-author record {target} -- python" in drafted.text
    assert result.recording.calls == drafted.calls and result.recorded.result.exit_code == 0

"""Blocks that `suggest` names: of the method, with its section, and a command that works as it is printed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from lmr_author.authoring.extracting.blocks import blocks_of_task, find_blocks
from lmr_author.authoring.suggesting import PaperText
from lmr_author.cli.app import main
from lmr_author.core.task import Task
from tests.support import make_task

PAPER = {
    "1": """Swapping Patches
1 Introduction
We swap patches of images.
2 Related Work
Others drop regions.
3 Method
3.1 Patch swapping
The mixing ratio is drawn from a beta distribution. A random permutation of the batch gives the partner of each
image; the patch of the partner replaces the patch of the image, and the labels are mixed by the area.
3.2 Optimisation
We train with momentum, warm up and weight decay for ninety epochs.
4 Experiments
Accuracy on many data sets.
References
"""
}
SCRIPT = """
import sys
import numpy as np


def main(images, labels, epochs):
    history = []
    print("start", epochs, file=sys.stderr)
    for epoch in range(epochs):
        # Swap patches between images
        ratio = np.random.beta(1.0, 1.0)
        partner = np.random.permutation(len(images))
        size = int(images.shape[1] * np.sqrt(1 - ratio))
        mixed = images.copy()
        mixed[:, :size, :size] = images[partner, :size, :size]
        area = size * size / (images.shape[1] * images.shape[2])
        targets = (1 - area) * labels + area * labels[partner]

        # Log
        print("epoch", epoch, file=sys.stderr)
        print("mean", mixed.mean(), file=sys.stderr)
        print("labels", targets.mean(), file=sys.stderr)
        history.append((mixed.mean(), targets.mean()))
        print("kept", len(history), file=sys.stderr)
    best = max(history)
    worst = min(history)
    print(best, worst, file=sys.stderr)
    print(len(history), file=sys.stderr)
    print(history[0], file=sys.stderr)
    print(history[-1], file=sys.stderr)
    print("done", file=sys.stderr)
    print("bye", file=sys.stderr)
    return best


if __name__ == "__main__":
    main(np.ones((2, 4, 4)), np.ones(2), 1)
"""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    task = make_task(tmp_path)
    info = task.load()
    (task.repository(info) / "swap.py").write_text(SCRIPT)
    task.paper_json(info).write_text(json.dumps(PAPER))
    return task


def test_the_block_of_the_method_comes_first_with_its_section(task: Task) -> None:
    best = blocks_of_task(task, 5)[0]
    assert (best.place, best.name) == ("swap.py:11-17", "swap_patches_between_images")
    assert best.section == "section 3.1 (Patch swapping)"
    assert "patch" in " ".join(best.terms)


def test_the_command_works_as_it_is_printed(
    task: Task, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(task.root)
    assert main(["suggest"]) == 0
    shown = capsys.readouterr().out
    assert "rank score  function, and what lowers its score most" in shown
    command = next(line for line in shown.splitlines() if line.startswith("next: "))
    words = shlex.split(command)[2:]
    assert words[:2] == ["extract", "swap.py:11-17"]
    assert main([*words, "--yes"]) == 0
    changed = (task.repository(task.load()) / "swap.py").read_text()
    assert "def swap_patches_between_images(" in changed
    compile(changed, "swap.py", "exec")


def test_what_cannot_be_moved_or_is_not_described_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "swap.py").write_text(SCRIPT.replace("mixed = images.copy()", "mixed = locals()['images']"))
    found = find_blocks(tmp_path, PaperText.from_json(PAPER), 5)
    assert not any(one.start == 11 for one in found)
    assert find_blocks(tmp_path, PaperText({}), 5) == []


def test_a_block_that_is_all_of_a_function_is_not_named(tmp_path: Path) -> None:
    swap = [line.strip() for line in SCRIPT.splitlines()[10:17]]
    twice = "\n".join(f"        {line}" for line in swap * 4)
    head = "import numpy as np\n\n\ndef swap_patches(images, labels):\n"
    whole = f"{head}    if len(images):\n{twice}\n        return mixed, targets\n"
    (tmp_path / "swap.py").write_text(whole)
    assert find_blocks(tmp_path, PaperText.from_json(PAPER), 5) == []

    other = "\n".join(f"    {line}" for line in swap * 4)
    (tmp_path / "swap.py").write_text(f"{whole}\n    mixed = images\n{other}\n    return mixed\n")
    halves = find_blocks(tmp_path, PaperText.from_json(PAPER), 5)
    assert {block.start for block in halves} == {6, 36}

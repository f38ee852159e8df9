"""The files of the example task: a small ranking loss, its paper's repository, its test."""

from __future__ import annotations

from typing import Any

FOLDER = "1-MarginRanking"


REPOSITORY = "margin-ranking"
GOAL = f"{REPOSITORY}/ranking/losses.py"


DOCKERFILE = """\
ARG BASE_IMAGE=pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime
FROM ${BASE_IMAGE}
ARG DIR=margin-ranking
ARG UID=1000
ARG GID=1000
COPY requirements.lock /tmp/requirements.lock
RUN pip install --no-cache-dir -r /tmp/requirements.lock
RUN groupadd --gid ${GID} --non-unique agent && \\
    useradd --uid ${UID} --gid ${GID} --non-unique --create-home agent
COPY --chown=agent:agent ${DIR} /workspace/${DIR}
USER agent
WORKDIR /workspace/${DIR}
"""


DATA = '''\
"""Reading ranked lists."""

import json


def read_lists(path):
    """Ranked lists from a JSON lines file."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def shuffle_documents(documents, seed):
    """A reproducible permutation of documents."""
    order = sorted(range(len(documents)), key=lambda place: hash((seed, place)))
    return [documents[place] for place in order]
'''


TRAIN = '''\
"""Train a linear scorer with the pairwise loss."""

from ranking.data import read_lists
from ranking.losses import pairwise_loss


def score(weights, features):
    """Inner product of weights and features."""
    return sum(weight * value for weight, value in zip(weights, features))


def epoch(weights, path, margin):
    """Mean loss over every list of a file."""
    losses = []
    for entry in read_lists(path):
        scores = [score(weights, features) for features in entry["features"]]
        loss, _ = pairwise_loss(scores, entry["labels"], margin)
        losses.append(loss)
    return sum(losses) / max(1, len(losses))
'''


HEAD = '''\
"""Losses for learning to rank."""

import math


def sigmoid(value):
    """Logistic function."""
    return 1.0 / (1.0 + math.exp(-value))


def pairwise_loss(scores, labels, margin=1.0):
    """Mean smooth hinge over all ordered pairs of a list.

    Args:
        scores: one number for each document.
        labels: graded relevance of each document.
        margin: how far apart a pair has to be.

    Returns:
        The mean loss, and the share of pairs in the right order.
    """
'''


BODY = """\
    penalties = []
    ordered = 0
    for first, first_label in enumerate(labels):
        for second, second_label in enumerate(labels):
            if first_label <= second_label:
                continue
            difference = scores[first] - scores[second]
            penalties.append(math.log1p(math.exp(margin - difference)))
            ordered += difference > 0
    if not penalties:
        return 0.0, 1.0
    mean_penalty = sum(penalties) / len(penalties)
    return mean_penalty, ordered / len(penalties)
"""


MASKED_BODY = """\
    # TODO: implement pairwise_loss.
    # Objective: the pairwise loss of section 3 of the paper.
    raise NotImplementedError
"""


TAIL = '''

class ListLoss:
    """Cross entropy between the distributions of labels and of scores."""

    def __init__(self, temperature=1.0):
        self.temperature = temperature

    def normalise(self, values):
        """Softmax of values at the temperature."""
        largest = max(values)
        exponentials = [math.exp((value - largest) / self.temperature) for value in values]
        total = sum(exponentials)
        return [value / total for value in exponentials]

    def forward(self, scores, labels):
        """Cross entropy of one list."""
        wanted = self.normalise(labels)
        found = self.normalise(scores)
        return -sum(p * math.log(q) for p, q in zip(wanted, found))
'''


PLAIN_HEAD = HEAD.partition('    """Mean smooth')[0]
GOLDEN = HEAD + BODY + TAIL


MASKED = HEAD + MASKED_BODY + TAIL


UNIT_TEST = '''\
"""Unit test of pairwise_loss."""

import logging
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from ranking.losses import pairwise_loss

LOGS = os.path.join(HERE, "logs")
os.makedirs(LOGS, exist_ok=True)
logging.basicConfig(filename=os.path.join(LOGS, "unit_test_1.log"), filemode="w", level=logging.INFO)


class TestPairwiseLoss(unittest.TestCase):
    def test_three_documents(self):
        loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)
        self.assertAlmostEqual(loss, 1.0599649, places=6)
        self.assertAlmostEqual(share, 0.6666667, places=6)

    def test_no_pairs(self):
        self.assertEqual(pairwise_loss([1.0], [3]), (0.0, 1.0))


if __name__ == "__main__":
    program = unittest.main(exit=False)
    passed = program.result.wasSuccessful()
    logging.info("Passed" if passed else "Failed")
    sys.exit(0 if passed else 1)
'''


INSTRUCTION = (
    "Implement the function `pairwise_loss` in `ranking/losses.py`, the pairwise loss of section 3 of the"
    " paper (`paper.pdf`). Keep its signature; return the mean loss and the share of pairs in the right"
    " order."
)


INFO: dict[str, Any] = {
    "instance_id": 1,
    "paper_name": "Learning to Rank with Smooth Margins",
    "folder_name": FOLDER,
    "paper_url": "https://example.org/papers/margin-ranking.pdf",
    "year": 2024,
    "repo_url": "https://example.org/code/margin-ranking",
    "repo_folder_name": REPOSITORY,
    "repo_commit": "0123456789abcdef0123456789abcdef01234567",
    "license": "MIT",
    "implementations": [
        {
            "instruction": INSTRUCTION,
            "index": 1,
            "category": "Training Objectives & Optimization",
            "goal_file": "ranking/losses.py",
            "goal_function": "pairwise_loss",
            "class_name": "",
            "golden_file": "golden_files/losses_golden.py",
            "retrieval_context": ["ranking/train.py"],
            "unit_test_file": "unit_test/unit_test_1.py",
        }
    ],
}


PROVENANCE: dict[str, Any] = {
    "created": "2025-01-01T00:00:00Z",
    "tool": {"name": "lmr-author", "version": "0.1.0", "python": "3.11.10", "packages": {}},
    "paper": {
        "source": "file",
        "url": INFO["paper_url"],
        "sha256": "0" * 64,
        "pages": 2,
        "title": INFO["paper_name"],
        "year": 2024,
        "year_origin": "given",
        "arxiv_id": "",
        "venue": "",
        "repositories": [INFO["repo_url"]],
        "notes": [],
    },
    "repository": {
        "url": INFO["repo_url"],
        "commit": INFO["repo_commit"],
        "commit_date": "2024-05-01T12:00:00Z",
        "default_branch": "main",
        "last_commit_date": "2024-06-01T12:00:00Z",
        "commits": 12,
        "folder": REPOSITORY,
        "license": "MIT",
        "license_file": "LICENSE",
        "submodules": [],
        "lfs_resolved": 0,
        "lfs_left": [],
        "removed": [],
        "notes": [],
    },
    "environment": {
        "base_image": {
            "reference": "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime",
            "torch": "2.6.0",
            "cuda": "12.4",
            "python": "3.11",
            "python_certain": False,
            "reason": "the newest image at the commit's date",
        },
        "lock": {"pinned": True, "note": "", "left_out": []},
        "requirements": [{"requirement": "numpy", "origin": "requirements.txt:1", "guessed": False}],
        "torch": [],
        "python": "",
        "python_origin": "",
        "project": "",
        "sources": ["requirements.txt"],
        "problems": [],
    },
}


FILES: dict[str, str] = {
    "Dockerfile": DOCKERFILE,
    ".dockerignore": "golden_files\nauthoring\n",
    "requirements.lock": "numpy==1.26.4\n",
    "golden_files/losses_golden.py": GOLDEN,
    f"{REPOSITORY}/README.md": "# Learning to Rank with Smooth Margins\n\nRun `python -m ranking.train`.\n",
    f"{REPOSITORY}/LICENSE": "MIT License\n",
    f"{REPOSITORY}/requirements.txt": "numpy\n",
    f"{REPOSITORY}/ranking/__init__.py": "",
    f"{REPOSITORY}/ranking/data.py": DATA,
    f"{REPOSITORY}/ranking/losses.py": MASKED,
    f"{REPOSITORY}/ranking/train.py": TRAIN,
    f"{REPOSITORY}/unit_test/unit_test_1.py": UNIT_TEST,
    f"{REPOSITORY}/paper.pdf": "%PDF-1.7\n% a stand-in of a few bytes\n%%EOF\n",
}


PAPER_JSON = {"1": "Learning to Rank with Smooth Margins. Abstract.", "2": "3 Pairwise loss. 4 Experiments."}

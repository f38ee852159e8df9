"""A good task unlike the examples' one: loose scripts with CRLF and tabs, two targets in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lmr_author.core.task import Task
from tests.example import PROVENANCE
from tests.support import write_files

PAPER = {
    "paper.pdf": "%PDF-1.5\n%%EOF\n",
    "paper.json": '{"1": "Beam Search Revisited. Abstract", "2": "Method"}\n',
}

DECODE = '''\
# -*- coding: utf-8 -*-
import math
import heapq


def length_penalty(length, alpha=0.6):
	"""The length penalty of equation 14."""
'''
PENALTY = """\
	if alpha == 0.0:
		return 1.0
	scaled = (5.0 + float(length)) / 6.0
	penalty = math.pow(scaled, alpha)
	return max(penalty, 1e-6)
"""
PENALTY_MASKED = """\
	raise NotImplementedError("length_penalty")
"""
BEAM = '''

class Beam(object):
	"""Hypotheses of one sentence."""

	def __init__(self, width, alpha=0.6):
		self.width = width
		self.alpha = alpha
		self.finished = []

	def push(self, score, tokens):
		heapq.heappush(self.finished, (score / length_penalty(len(tokens), self.alpha), tokens))

	def prune(self, candidates):
		"""Keep the best continuations.

		candidates: list of (score, tokens); returns at most width of them, best first.
		"""
'''
PRUNE = """\
		ranked = []
		seen = set()
		for score, tokens in candidates:
			key = tuple(tokens)
			if key in seen:
				continue
			seen.add(key)
			ranked.append((score / max(1, len(tokens)) ** self.alpha, score, key))
		ranked.sort(key=lambda item: (-item[0], item[2]))
		return [(score, list(key)) for _, score, key in ranked[:self.width]]
"""
PRUNE_MASKED = """\
		raise NotImplementedError("prune")
"""
DECODE_TAIL = """

if __name__ == "__main__":
	beam = Beam(4)
	print(beam.prune([(-1.0, [1, 2]), (-2.0, [1, 3])]))
"""
PENALTY_TEST = """\
# length_penalty against values of the original
import os, sys, logging
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.append(root)
import decode

log_file = os.path.join(root, "unit_test", "logs", "unit_test_1.log")
os.makedirs(os.path.dirname(log_file), exist_ok=True)
logging.basicConfig(filename=log_file, filemode="w", level=logging.INFO)

CASES = [((1, 0.6), 1.0), ((10, 0.6), 1.732861), ((7, 0.0), 1.0), ((50, 1.0), 9.166667)]


def run():
	ok = True
	for arguments, expected in CASES:
		value = decode.length_penalty(*arguments)
		if abs(value - expected) > 1e-5:
			print("wrong:", arguments, value, expected)
			ok = False
	return ok


if run():
	logging.info("length_penalty: Passed")
else:
	logging.info("length_penalty: Failed")
	sys.exit(1)
"""
PRUNE_TEST = """\
# Beam.prune against a recorded ranking
import os, sys
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.append(root)
from decode import Beam

beam = Beam(2)
kept = beam.prune([(-2.0, [4, 5]), (-1.0, [1, 2, 3]), (-2.0, [4, 5]), (-9.0, [7])])
os.makedirs(os.path.join(root, "unit_test/logs"), exist_ok=True)
with open(os.path.join(root, "unit_test/logs/unit_test_2.log"), "w") as f:
	f.write("Passed" if kept == [(-1.0, [1, 2, 3]), (-2.0, [4, 5])] else "Failed")
assert kept == [(-1.0, [1, 2, 3]), (-2.0, [4, 5])], kept
"""
BEAM_DOCKERFILE = """\
ARG BASE=pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime
FROM ${BASE}
LABEL maintainer="somebody"
ARG DIR=beamtools
WORKDIR /workspace
COPY $DIR $DIR
RUN python -m pip install numpy==1.24.4 'tqdm==4.66.1' \\
 && groupadd -g 1000 agent \\
 && useradd -u 1000 -g agent agent
USER 1000
WORKDIR /workspace/$DIR
"""


def _crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


FILES = {
    "Dockerfile": BEAM_DOCKERFILE,
    "golden_files/decode.py": _crlf(DECODE + PENALTY + BEAM + PRUNE + DECODE_TAIL),
    "beamtools/README": "Beam search.\n\nusage: python decode.py\n",
    "beamtools/decode.py": _crlf(DECODE + PENALTY_MASKED + BEAM + PRUNE_MASKED + DECODE_TAIL),
    "beamtools/bleu.py": "def brevity(reference, length):\n    return min(1.0, length / max(1, reference))\n",
    "beamtools/train.sh": "python decode.py --width 4\n",
    "beamtools/data/sample.txt": "a b c\n",
    "beamtools/unit_test/unit_test_1.py": PENALTY_TEST,
    "beamtools/unit_test/unit_test_2.py": PRUNE_TEST,
    **{f"beamtools/{name}": text for name, text in PAPER.items()},
}
INFO: dict[str, Any] = {
    "instance_id": 3,
    "paper_name": "Beam Search Revisited",
    "folder_name": "3-BeamTools",
    "paper_url": "https://example.org/papers/beam.pdf",
    "year": 2017,
    "repo_url": "https://example.org/code/beamtools",
    "repo_folder_name": "beamtools",
    "implementations": [
        {
            "instruction": "Implement length_penalty() in decode.py, equation 14 of the paper (paper.pdf).",
            "index": 1,
            "category": "Decoding & Search Strategies",
            "goal_file": "decode.py",
            "goal_function": "length_penalty",
            "class_name": "",
            "golden_file": "golden_files/decode.py",
            "retrieval_context": ["bleu.py"],
            "unit_test_file": "unit_test/unit_test_1.py",
        },
        {
            "instruction": "Implement the method prune of the class Beam in decode.py, see algorithm 2.",
            "index": 2,
            "category": "Decoding & Search Strategies",
            "goal_file": "decode.py",
            "goal_function": "prune",
            "class_name": "Beam",
            "golden_file": "golden_files/decode.py",
            "retrieval_context": [],
            "unit_test_file": "unit_test/unit_test_2.py",
        },
    ],
}

BODY, MASKED = _crlf(PENALTY), _crlf(PENALTY_MASKED)
"""The golden's body of the first target as it stands in the file, and what stands there in the goal file."""
COPY = 'import math\n\n\ndef length_penalty(length, alpha=0.6):\n\t"""Penalty."""\n' + PENALTY
"""The first target as a function of another file."""
GOAL, GOLDEN, TEST = "beamtools/decode.py", "golden_files/decode.py", "beamtools/unit_test/unit_test_1.py"


def write(parent: Path) -> Task:
    """Write the task below a folder."""
    root = write_files(parent / "3-BeamTools", FILES)
    provenance = json.loads(json.dumps(PROVENANCE))
    provenance["paper"] |= {"url": INFO["paper_url"], "title": INFO["paper_name"]}
    provenance["repository"] |= {"url": INFO["repo_url"], "folder": "beamtools"}
    write_files(root, {"info.json": json.dumps(INFO), "authoring/provenance.json": json.dumps(provenance)})
    return Task(root)

"""Each reply of ``replies.toml`` is judged as it was meant, or refused: right and wrong content in every shape."""

from __future__ import annotations

import random
import re
import textwrap
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.code import Module, find
from lmr_author.core.task import Target
from lmr_author.proof.evaluation.candidates.fitting import Slot, fit
from lmr_author.proof.evaluation.candidates.reply import Invalid

PATH = "pkg/losses.py"
GOAL = '''\
"""Losses and rewards."""

import re

SCALE = 2.0


def other(x):
    return x


def hinge(x, margin=1.0):
    """Hinge loss."""
    raise NotImplementedError


class Meter:
    """A sum."""

    def __init__(self):
        self.values = []

    def add(self, value):
        """Add a value."""
        raise NotImplementedError


def format_reward(text):
    """Give 1.0 for <think>…</think> and an answer."""
    raise NotImplementedError
'''
SIGNATURES = {
    "hinge": 'def hinge(x, margin=1.0):\n    """Hinge loss."""\n',
    "Meter.add": 'def add(self, value):\n    """Add a value."""\n',
    "format_reward": 'def format_reward(text):\n    """Give 1.0 for <think>…</think> and an answer."""\n',
}
BODIES = {
    "hinge": ["gap = margin - x", "return max(gap, 0.0)", "return gap"],
    "Meter.add": ["self.values.append(value)", "return sum(self.values)", "return value"],
    "format_reward": [
        'pattern = r"^<think>.*?</think>\\n.+$"',
        "return 1.0 if re.match(pattern, text, re.DOTALL) else 0.0",
        'return 1.0 if re.match(pattern, text, re.DOTALL) else float("<think>" in text)',
    ],
}
"""Target → the first line of its body, and the last one: right, and wrong."""
EXPECTED = {
    "hinge": "[m.hinge(-1), m.hinge(3), m.hinge(0, 2.0)] == [2.0, 0.0, 2.0]",
    "Meter.add": "[meter.add(1), meter.add(2)] == [1, 3]",
    "format_reward": 'list(map(m.format_reward, ["<think>a</think>\\nb", "<think>"])) == [1.0, 0.0]',
}
SEED = 2611

with (Path(__file__).parent / "replies.toml").open("rb") as file:
    REPLIES: list[dict[str, Any]] = tomllib.load(file)["reply"]


def halves() -> tuple[list[str], list[str]]:
    """Return the names of the open half, which may be looked at while the reader is written, and of the held one."""
    names = sorted(reply["name"] for reply in REPLIES if not reply.get("late"))
    random.Random(SEED).shuffle(names)
    return names[: len(names) // 2], names[len(names) // 2 :]


def written(text: str, target: str, *, is_right: bool) -> str:
    """Fill a reply in: its final version is right and its draft wrong, or the reverse."""
    signature, (first, right, wrong) = SIGNATURES[target], BODIES[target]
    indent = "    " if "." in target else ""
    masked = signature + "    raise NotImplementedError"
    parts = {"path": PATH, "masked": masked}
    for version, line in (("final", right if is_right else wrong), ("draft", wrong if is_right else right)):
        body = f"{first}\n{line}"
        function = signature + textwrap.indent(body, "    ")
        parts[version], parts[f"{version}.body"], parts[f"{version}.line"] = function, body, line
        parts[f"{version}.file"] = GOAL.replace(
            textwrap.indent(masked, indent), textwrap.indent(function, indent)
        )

    def fill(match: re.Match[str]) -> str:
        return textwrap.indent(parts[match[1]], " " * int(match[2] or 0))

    return re.sub(r"«([\w.]+)(?::(\d+))?»", fill, text)


def verdict(reply: dict[str, Any], *, is_right: bool) -> str:
    """Return how a reply ends: passed, failed or invalid."""
    target = reply.get("target", "hinge")
    goal = Module.parse(GOAL.encode(), PATH)
    slot = Slot(goal, (find(goal, Target(PATH, target)),))
    text = written(reply["text"], target, is_right=is_right)
    try:
        fitted = fit(text, slot, is_file=reply.get("file", False))
    except Invalid:
        return "invalid"
    names: dict[str, Any] = {}
    try:
        exec(compile(fitted.data, PATH, "exec"), names)
        names["m"] = type(
            "Module", (), {name: staticmethod(names[name]) for name in ("hinge", "format_reward")}
        )
        names["meter"] = names["Meter"]()
        return "passed" if eval(EXPECTED[target], names) else "failed"
    except Exception:
        return "failed"


def problem(reply: dict[str, Any]) -> str:
    """Return how a reply ends that has to end otherwise; "" for none."""
    right, wrong = verdict(reply, is_right=True), verdict(reply, is_right=False)
    allowed = {
        "judged": [("passed", "failed")],
        "invalid": [("invalid", "invalid")],
        "unpassed": [(one, other) for one in ("failed", "invalid") for other in ("failed", "invalid")],
    }[reply["must"]]
    return "" if (right, wrong) in allowed else f"must be {reply['must']}: right {right}, wrong {wrong}"


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply["name"])
def test_a_reply_is_judged_as_it_was_meant_or_refused(reply: dict[str, Any]) -> None:
    assert not problem(reply)


@pytest.mark.parametrize("first_tag", ["<think>\n", ""])
def test_long_thoughts_leave_time_for_the_answer(first_tag: str) -> None:
    broken = "def hinge(x, margin=1.0):\n    gap = margin - x)\n    return gap"
    drafts = f"```python\n{broken}\n```\nHm, x = 1 and\n```python\n«draft»\n```\n" * 200
    reply = {"text": f"{first_tag}{drafts}</think>\n```python\n«final»\n```\n", "must": "judged"}
    assert not problem(reply)


def main() -> None:
    """Print the figures of both halves, and the failures of the open one."""
    by_name = {reply["name"]: problem(reply) for reply in REPLIES}
    for half, names in zip(("open", "held"), halves(), strict=True):
        failures = {name: by_name[name] for name in names if by_name[name]}
        kinds = Counter(
            "wrong verdict on wrong content" if "wrong passed" in text else "other"
            for text in failures.values()
        )
        print(half, len(names), "replies,", len(failures), "not as they must", dict(kinds))
        if half == "open":
            print("\n".join(f"  {name}: {text}" for name, text in failures.items()))


if __name__ == "__main__":
    main()

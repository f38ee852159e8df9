"""Each reply of ``replies.toml`` is judged as it was meant, or refused: right and wrong content in every shape."""

from __future__ import annotations

import ast
import difflib
import json
import re
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.code import Module, find
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Target, Task
from lmr_author.proof.evaluation.candidates.answer import read
from lmr_author.proof.evaluation.candidates.fitting import Slot, fit
from lmr_author.proof.evaluation.candidates.reply import InvalidAnswer

ROOT = Path(__file__).parents[2]
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
HELPERS = '''\
import math as _math

_UNIT = 2.0


def _rescaled(value):
    """Give the square root in units."""
    return _math.sqrt(value) / _UNIT
'''
NEEDED = frozenset({"_math", "_UNIT", "_rescaled"})
"""What an answer with helpers needs at the top of its file."""

Function = ast.FunctionDef | ast.AsyncFunctionDef

with (Path(__file__).parent / "replies.toml").open("rb") as file:
    REPLIES: dict[str, dict[str, Any]] = tomllib.load(file)


@dataclass(frozen=True)
class Subject:
    """A masked function in its file, and two versions of it, not indented."""

    name: str
    path: str
    masked: str
    qualname: str
    final: str
    draft: str

    @property
    def owner(self) -> str:
        return self.qualname.rpartition(".")[0]

    @property
    def function(self) -> str:
        return self.qualname.rpartition(".")[2]

    @property
    def slot(self) -> Slot:
        return slot(self.path, self.masked, self.qualname)

    def in_file(self, code: str) -> str:
        """The goal file with a version of the function in its place."""
        lines = self.masked.splitlines(keepends=True)
        node = find_function(self.masked, self.qualname)
        lines[node.lineno - 1 : node.end_lineno] = [textwrap.indent(code, self.indent) + "\n"]
        return "".join(lines)

    @property
    def indent(self) -> str:
        return "    " if self.owner else ""


@cache
def slot(path: str, masked: str, qualname: str) -> Slot:
    module = Module.parse(masked.encode(), path)
    return Slot(module, (find(module, Target(path, qualname)),))


def find_function(text: str, qualname: str) -> Function:
    """Return the last definition of a function in a module, or in a class at its top."""
    owner, _, name = qualname.rpartition(".")
    body: list[ast.stmt] = ast.parse(text).body
    if owner:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == owner).body
    return [node for node in body if isinstance(node, Function) and node.name == name][-1]


def lines_of(text: str, node: ast.stmt) -> str:
    return "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])


def split(code: str) -> tuple[str, str]:
    """Split a function into the lines from ``def`` to the colon, and its body without a docstring, not indented."""
    (node,) = ast.parse(code).body
    assert isinstance(node, Function)
    lines = code.splitlines()
    first = node.body[1 if ast.get_docstring(node) is not None else 0].lineno
    return "\n".join(lines[: node.body[0].lineno - 1]), textwrap.dedent("\n".join(lines[first - 1 :]))


def helped(code: str) -> str:
    """The function with a first line that needs HELPERS."""
    signature, body = split(code)
    return f"{signature}\n    scale = _rescaled(_UNIT)\n{textwrap.indent(body, '    ')}"


def versions(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield the names of replies for the final version and the draft, and what they stand for."""
    for version, code in (("final", subject.final), ("draft", subject.draft)):
        whole = subject.in_file(code)
        names = f"a/{subject.path}", f"b/{subject.path}"
        before, after = subject.masked.splitlines(), whole.splitlines()
        change = list(difflib.unified_diff(before, after, *names, lineterm=""))
        yield version, code
        yield f"{version}.body", split(code)[1]
        yield f"{version}.line", code.splitlines()[-1].strip()
        yield f"{version}.method", textwrap.indent(code, subject.indent)
        yield f"{version}.file", whole
        yield f"{version}.json", json.dumps(code)
        yield f"{version}.diff", "\n".join(change)
        yield f"{version}.hunk", "\n".join("@@" if line.startswith("@@") else line for line in change)
        tree = ast.parse(whole).body
        imports = [node.end_lineno or 0 for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]
        lines = whole.splitlines()
        yield f"{version}.helped", "\n".join([*lines[: max(imports)], HELPERS, "", *lines[max(imports) :]])
        for node in tree:
            if isinstance(node, ast.ClassDef) and node.name == subject.owner:
                yield f"{version}.class", lines_of(whole, node)


def written(reply: dict[str, Any], subject: Subject) -> str:
    """Fill a reply in."""
    if callable(reply["text"]):
        return str(reply["text"](subject))
    if reply.get("helpers"):
        subject = replace(subject, final=helped(subject.final))
    masked = lines_of(subject.masked, find_function(subject.masked, subject.qualname))
    imports = [
        line for line in subject.masked.splitlines() if re.match("(from (?!__future__)|import )", line)
    ]
    parts = {
        **dict(versions(subject)), "path": subject.path, "name": subject.function, "owner": subject.owner,
        "masked": textwrap.dedent(masked), "masked.method": masked, "signature": split(subject.final)[0],
        "import": imports[0], "helpers": HELPERS.rstrip(),
    }  # fmt: skip

    def fill(match: re.Match[str]) -> str:
        part = textwrap.indent(parts[match[2]], " " * int(match[3] or 0))
        return f"```python\n{part}\n```" if match[1] else part

    return re.sub(r"«(fence )?([\w.]+)(?::(\d+))?»", fill, str(reply["text"]))


# what a reply must come to


def subject_of(target: str, *, is_right: bool) -> Subject:
    """A function of GOAL; its final version is right and its draft wrong, or the reverse."""
    first, *lines = BODIES[target]
    final, draft = (
        SIGNATURES[target] + textwrap.indent(f"{first}\n{line}", "    ")
        for line in (lines if is_right else lines[::-1])
    )
    return Subject(target, PATH, GOAL, target, final, draft)


def verdict(reply: dict[str, Any], *, is_right: bool) -> str:
    """Return how a reply ends: passed, failed or invalid."""
    target = reply.get("target", "hinge")
    subject = subject_of(target, is_right=is_right)
    try:
        fitted = fit(written(reply, subject), subject.slot, is_file=reply.get("file", False))
    except InvalidAnswer:
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


def must(reply: dict[str, Any]) -> str:
    return str(reply.get("must", "judged"))


def problem(reply: dict[str, Any]) -> str:
    """Return how a reply ends that has to end otherwise; "" for none."""
    right, wrong = verdict(reply, is_right=True), verdict(reply, is_right=False)
    allowed = {
        "judged": [("passed", "failed")],
        "invalid": [("invalid", "invalid")],
        "unpassed": [(one, other) for one in ("failed", "invalid") for other in ("failed", "invalid")],
    }[must(reply)]
    return "" if (right, wrong) in allowed else f"must be {must(reply)}: right {right}, wrong {wrong}"


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_is_judged_as_it_was_meant_or_refused(name: str) -> None:
    assert not problem(REPLIES[name])


@pytest.mark.parametrize("first_tag", ["<think>\n", ""])
def test_long_thoughts_leave_time_for_the_answer(first_tag: str) -> None:
    broken = "def hinge(x, margin=1.0):\n    gap = margin - x)\n    return gap"
    drafts = f"```python\n{broken}\n```\nHm, x = 1 and\n«fence draft»\n" * 200
    assert not problem({"text": f"{first_tag}{drafts}</think>\n«fence final»\n"})


# the functions of the starter tasks


MADE = '''\
"""A class with decorated functions."""

import functools
import asyncio


class Outer:
    """Two functions, one with decorators, one that is asynchronous."""

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def steps(number):
        """Count the steps."""
        raise NotImplementedError

    async def wait(self, seconds):
        # TODO: implement
        raise NotImplementedError


def last(values): raise NotImplementedError
'''
MADE_ANSWERS = {
    "Outer.steps": (
        "def steps(number):\n    n = 0\n    while number > 1:\n        number, n = number // 2, n + 1\n    return n",
        "def steps(number):\n    return number // 2",
    ),
    "Outer.wait": (
        "async def wait(self, seconds):\n    for _ in range(3):\n        await asyncio.sleep(seconds)\n    return 3",
        "async def wait(self, seconds):\n    return await asyncio.sleep(seconds)",
    ),
    "last": (
        "def last(values):\n    *_, value = values\n    return value",
        "def last(values):\n    value = values[0]\n    return value",
    ),
}


def subjects() -> Iterator[Subject]:
    """Yield functions with a right implementation, and a wrong one as their draft."""
    for name in ("3-echo-layers", "6-span-exchange", "9-two-way"):
        folder = ROOT / "tasks" / name
        task = Task(folder)
        info = task.load()
        for item in info.implementations:
            golden = task.golden(item).read_text()
            right = textwrap.dedent(lines_of(golden, find_function(golden, item.qualname)))
            answers = ROOT / "templates/starter" / folder.name / "answers" / str(item.index)
            wrong = textwrap.dedent((answers / "misread.py").read_text())
            masked = task.goal(info, item).read_text()
            yield Subject(
                folder.name, item.goal_file, masked, item.qualname, *map(undocumented, (right, wrong))
            )
    for qualname, (right, wrong) in MADE_ANSWERS.items():
        yield Subject(f"made/{qualname}", "pkg/made.py", MADE, qualname, right, wrong)


def undocumented(code: str) -> str:
    """The function without its docstring, which is in the masked file, too."""
    signature, body = split(code)
    return f"{signature}\n{textwrap.indent(body, '    ')}"


SUBJECTS = list(subjects())


def statements(node: ast.AST) -> str:
    """A function's statements without its docstring, in one spelling."""
    assert isinstance(node, Function)
    kept = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return "\n".join(ast.dump(statement) for statement in kept)


def gives(reply: dict[str, Any], subject: Subject, right: str) -> bool:
    """True if the file that is judged has the right function, with all that it needs, and nothing that runs."""
    meant = statements(ast.parse(helped(right) if reply.get("helpers") else right).body[0])
    text, slot = written(reply, subject), subject.slot
    try:
        taken = read(text, slot.goal, slot.targets).function(slot.targets[0])
        if taken and statements(taken[1].function) != meant:
            return False
        fitted = fit(text, slot).data.decode()
    except LmrError:
        return False
    before, after = ast.parse(subject.masked).body, ast.parse(fitted).body
    if statements(find_function(fitted, subject.qualname)) != meant or what_runs(after) != what_runs(before):
        return False
    new = bound(after) - bound(before)
    return new == NEEDED and "return _math.sqrt" in fitted if reply.get("helpers") else not new


def what_runs(body: list[ast.stmt]) -> int:
    """The number of statements at the top of a file that bind nothing: usage of a function, say."""
    binding = ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | Function | ast.ClassDef
    return sum(not isinstance(node, binding) for node in body)


def bound(body: list[ast.stmt]) -> set[str]:
    """The names that a file's imports, constants and definitions bind."""
    names: set[str] = set()
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom():
                names.update(alias.asname or alias.name for alias in node.names)
            case ast.Assign():
                names.update(target.id for target in node.targets if isinstance(target, ast.Name))
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
    return names


@pytest.mark.parametrize("name", [name for name, reply in REPLIES.items() if reply.get("every")])
def test_right_answers_pass_in_every_shape_and_wrong_ones_in_none(name: str) -> None:
    reply, wrong = REPLIES[name], []
    for subject in SUBJECTS:
        if subject.owner or not reply.get("target"):
            if gives(reply, subject, subject.final) != (must(reply) == "judged"):
                wrong.append(f"{subject.name}: right")
            turned = replace(subject, final=subject.draft, draft=subject.final)
            if gives(reply, turned, subject.final):
                wrong.append(f"{subject.name}: wrong")
    assert wrong == []

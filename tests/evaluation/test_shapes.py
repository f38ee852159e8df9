"""Right answers are read as right in every shape, wrong ones in none: shapes × functions of the starter set."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from lmr_author.core.code import Module, find
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Target, Task
from lmr_author.proof.evaluation.candidates.answer import read
from lmr_author.proof.evaluation.candidates.fitting import Slot, fit
from tests.evaluation.shapes_of_answers import NEEDED, SHAPES, Answer, Shape, find_function

ROOT = Path(__file__).parents[2]

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
        "def steps(number):\n    n = 0\n    while number > 1:\n        number, n = number // 2, n + 1\n    return n\n",
        "def steps(number):\n    return number // 2\n",
    ),
    "Outer.wait": (
        "async def wait(self, seconds):\n    for _ in range(3):\n        await asyncio.sleep(seconds)\n    return 3\n",
        "async def wait(self, seconds):\n    return await asyncio.sleep(seconds)\n",
    ),
    "last": (
        "def last(values):\n    *_, value = values\n    return value\n",
        "def last(values):\n    value = values[0]\n    return value\n",
    ),
}


@dataclass(frozen=True)
class Subject:
    """A masked function with a right and a wrong implementation."""

    name: str
    right: Answer
    wrong: Answer

    @cached_property
    def slot(self) -> Slot:
        module = Module.parse(self.right.masked.encode(), self.right.path)
        qualname = ".".join(filter(None, (self.right.owner, self.right.name)))
        return Slot(module, (find(module, Target(self.right.path, qualname)),))


def subjects() -> Iterator[Subject]:
    for folder in sorted((ROOT / "tasks").iterdir()):
        task = Task(folder)
        info = task.load()
        for item in info.implementations:
            masked = task.goal(info, item).read_text()
            golden = task.golden(item).read_text()
            node = find_function(ast.parse(golden), item.goal_function, item.class_name)
            right = textwrap.dedent("\n".join(golden.splitlines()[node.lineno - 1 : node.end_lineno])) + "\n"
            answers = ROOT / "templates/starter" / folder.name / "answers" / str(item.index)
            wrong = textwrap.dedent((answers / "misread.py").read_text())
            yield subject(f"{folder.name}/{item.index}", item.goal_file, masked, item.qualname, right, wrong)
    for qualname, (right, wrong) in MADE_ANSWERS.items():
        yield subject(f"made/{qualname}", "pkg/made.py", MADE, qualname, right, wrong)


def subject(name: str, path: str, masked: str, qualname: str, right: str, wrong: str) -> Subject:
    owner, _, function = qualname.rpartition(".")
    # A golden's docstring is in the masked file, too.
    right, wrong = without_docstring(right), without_docstring(wrong)
    return Subject(
        name,
        Answer(path, masked, function, owner, right, wrong),
        Answer(path, masked, function, owner, wrong, right),
    )


def without_docstring(code: str) -> str:
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    if ast.get_docstring(node) is None:
        return code
    lines = code.splitlines(keepends=True)
    return "".join(lines[: node.body[0].lineno - 1] + lines[node.body[0].end_lineno :])


SUBJECTS = list(subjects())


def body_of(code: str, name: str, owner: str) -> str:
    """A function's statements without its docstring, in one spelling."""
    return statements(find_function(ast.parse(code), name, owner))


def statements(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    kept = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return "\n".join(ast.dump(statement) for statement in kept)


def is_right(shape: Shape, answer: Answer, slot: Slot, right: Answer) -> bool:
    """True if the file that is judged has the right function, with all that it needs, and nothing that runs."""
    meant = body_of(right.using_helpers if shape.with_helpers else right.code, right.name, "")
    reply = shape.write(answer)
    try:
        taken = read(reply, slot.goal, slot.targets).function(slot.targets[0])
        if taken and statements(taken[1].function) != meant:
            return False
        fitted = fit(reply, slot).data.decode()
    except LmrError:
        return False
    if body_of(fitted, right.name, right.owner) != meant or what_runs(fitted) != what_runs(answer.masked):
        return False
    new = names_at_the_top(fitted) - names_at_the_top(answer.masked)
    return new == NEEDED and computes(fitted) if shape.with_helpers else not new


def what_runs(code: str) -> int:
    """The number of statements at the top of a file that bind nothing: usage of a function, say."""
    binding = (
        ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.AsyncFunctionDef
    )
    return sum(not isinstance(node, binding | ast.ClassDef) for node in ast.parse(code).body)


def names_at_the_top(code: str) -> set[str]:
    """The names that a file's imports, constants and definitions bind."""
    names: set[str] = set()
    for node in ast.parse(code).body:
        match node:
            case ast.Import() | ast.ImportFrom():
                names.update(alias.asname or alias.name for alias in node.names)
            case ast.Assign():
                names.update(target.id for target in node.targets if isinstance(target, ast.Name))
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
    return names


def computes(code: str) -> bool:
    """True if the last helper of the reply is the one in the file."""
    helpers = [node for node in ast.parse(code).body if getattr(node, "name", "") == "_rescaled"]
    return "_math.sqrt" in ast.unparse(helpers[-1])


def table(shapes: list[Shape]) -> dict[str, list[str]]:
    """What goes wrong in each shape."""
    wrong: dict[str, list[str]] = {}
    for shape in shapes:
        for subject in SUBJECTS:
            if shape.only == "methods" and not subject.right.owner:
                continue
            passes = is_right(shape, subject.right, subject.slot, subject.right)
            if passes == shape.refused:
                wrong.setdefault(shape.name, []).append(
                    f"{subject.name}: right {'passes' if passes else 'fails'}"
                )
            if is_right(shape, subject.wrong, subject.slot, subject.right):
                wrong.setdefault(shape.name, []).append(f"{subject.name}: wrong passes")
    return wrong


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_right_answers_pass_in_every_shape_and_wrong_ones_in_none(shape: Shape) -> None:
    assert table([shape]) == {}


def taken_by_a_search_for_a_fence(reply: str) -> Iterator[str]:
    """The code that simple scripts take out of a reply.

    Of LMR-Bench's own script we know that it takes a docstring with a fence in it. So these are all simple rules: from
    the first mark to the last, to the next one, the last block, and the whole reply.
    """
    yield from re.findall(r"```python\n(.*)```", reply, re.DOTALL)
    yield from re.findall(r"```\w*\n(.*)```", reply, re.DOTALL)
    yield from re.findall(r"```\w*\n(.*?)```", reply, re.DOTALL)
    yield reply


# A right answer passes in every other shape. Thoughts are no answer: nobody is shown them.
REFUSED = [shape for shape in SHAPES if shape.refused and shape.name != "only_in_the_thinking"]


@pytest.mark.parametrize("shape", REFUSED, ids=lambda shape: shape.name)
def test_no_simple_script_takes_a_right_answer_that_is_refused_here(shape: Shape) -> None:
    for subject in SUBJECTS:
        answer = subject.right
        for code in taken_by_a_search_for_a_fence(shape.write(answer)):
            try:
                taken = body_of(code, answer.name, "")
            except (SyntaxError, IndexError):
                continue
            assert taken != body_of(answer.code, answer.name, ""), subject.name

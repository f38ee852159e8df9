"""LMR518: whether a unit test comes to the same verdict in every run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.assignments import own_nodes
from lmr_author.checks.base import Example, ImplementationCheck, Wrong
from lmr_author.checks.comparing import reads_file
from lmr_author.checks.example_texts import REPOSITORY, UNIT_TEST
from lmr_author.checks.follow import imports
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.sides import sides_of
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import each, imported_as, walk

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
_DRAWS = UNIT_TEST.replace("import os\n", "import os\nimport random\n").replace(
    "[0, 2, 1], margin=1.0)\n        self.assertAlmostEqual(loss, 1.0599649, places=6)\n",
    "[0, 2, 1], random.uniform(0, 1))\n        self.assertEqual([loss, share], [1.0599649, 0.6666667])\n",
)


class SameInEveryRun(ImplementationCheck):
    code = "LMR518"
    title = "the test comes to the same verdict in every run"
    rationale = (
        "Where the target is given other numbers in each run, and what comes of them is compared with stored ones, the"
        " golden itself fails by chance, and a wrong solution may pass."
    )
    severity = Severity.NOTE
    failing = (Example("a margin that is drawn anew", files={TEST: _DRAWS}),)
    passing = (
        Example(
            "it is drawn with a seed",
            files={TEST: _DRAWS.replace("LOGS = os", "random.seed(0)\nLOGS = os")},
        ),
        Example(
            "only what holds for all numbers is asserted",
            files={
                TEST: _DRAWS.replace(
                    "assertEqual([loss, share], [1.0599649, 0.6666667])", "assertGreater(loss, 0)"
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        test = reading_of(view, implementation)
        if (
            test is None
            or test.helpers
            or not _DRAWN.search(test.module.text)
            or _is_seeded(view, implementation, test)
        ):
            return
        for scope in (test.module.tree, *each(test.module.tree, ast.FunctionDef)):
            wrong = _by_chance(test, scope, implementation)
            if wrong is not None:
                yield self.told(view, implementation, test.path, wrong)
                return


_DRAWN = re.compile(r"\brand|\.uniform\(|\.normal\(|\.gauss\(")
_SEEDS = re.compile(
    r"seed\w*\s*\(|RandomState\s*\(|default_rng\s*\(\s*[^\s)]|set_(?:rng_)?state|fork_rng|Generator|\bpatch|mock"
)
# A generator of its own, as in torch.Generator().manual_seed(seed), seeds nothing else.
_SEEDS_ALL = re.compile(r"(?:torch\.manual_seed|random\.seed|set_seed|seed_everything|seed_all)\s*\(")
_SOURCES = re.compile(
    r"random\.(?:random|randint|randrange|uniform|gauss)"
    r"|numpy\.random\.(?:rand|randn|randint|random|uniform|normal|random_sample|standard_normal)"
    r"|torch\.(?:rand|randn|randint)"
)
"""Calls that give other numbers in each run; not those that only change an order, which may not matter."""
_KEEPING = frozenset(
    """
    float int abs round tensor array asarray from_numpy as_tensor Tensor tolist item numpy to float double half cpu
    clone detach contiguous softmax log_softmax sigmoid exp log tanh normalize requires_grad_ unsqueeze squeeze view
    reshape astype Parameter
    """.split()  # noqa: SIM905
)
"""Calls whose value hangs on every number that they are given."""
_FORM = re.compile(r"\.(?:shape|dtype|size|ndim|device|dim|numel|requires_grad)\b|\blen\(")


def _is_seeded(view: TaskView, implementation: Implementation, test: Reading) -> bool:
    """Whether the numbers of a run may be the same in each: the test seeds them, or anything that it imports."""
    if _SEEDS.search(test.module.text):
        return True
    found = imports(view, implementation)
    folders = (test.path.parent, *test.path.parents[1:2])
    others = [*(found.files if found else ()), *(folder / "conftest.py" for folder in folders)]
    return found is None or any(
        _SEEDS_ALL.search(view.text(path) or "") for path in others if path != test.path
    )


def _by_chance(test: Reading, scope: ast.AST, implementation: Implementation) -> Wrong | None:
    """What to say of the first value of the target that hangs on drawn numbers, and is compared with stored ones."""
    own = sorted((node for node in own_nodes(scope) if hasattr(node, "lineno")), key=lambda node: node.lineno)
    known = {"np": "numpy", **imported_as(test.module.tree)}
    assigned = [node for node in own if isinstance(node, ast.Assign | ast.AugAssign)]
    drawn: dict[str, ast.expr] = {}
    for one in assigned:
        source = _source(one.value, drawn, known)
        if source is not None and isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            drawn[one.targets[0].id] = source
    names = {implementation.goal_function.strip(), implementation.class_name.strip().rpartition(".")[2]} - {
        ""
    }
    given = _given(own, names, drawn, known)
    if given is None:
        return None
    call, source, seeds = given
    hang = _hanging(assigned, call)
    for node in own:
        against = _stored(node, hang, call, assigned, seeds=seeds)
        if against:
            what = "another seed" if seeds else "other numbers"
            message = (
                f"gives {last_name(call.func)} {what} in each run (`{ast.unparse(source)[:40]}`), and compares what"
                f" comes of it with {against}: it may pass once and fail once"
            )
            return Wrong(message, "seed what is drawn, or store it", call.lineno)
    return None


def _source(node: ast.expr, drawn: dict[str, ast.expr], known: dict[str, str]) -> ast.expr | None:
    """The call that draws a value which is used as it is, or in another form; None where it is mixed with others."""
    if isinstance(node, ast.Name):
        return drawn.get(node.id)
    if not isinstance(node, ast.Call):
        return None
    first, dot, rest = dotted(node.func).partition(".")
    if _SOURCES.fullmatch(known.get(first, first) + dot + rest) and not any(
        item.arg == "generator" for item in node.keywords
    ):
        return node
    if last_name(node.func) not in _KEEPING:
        return None
    wraps = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    return next((found for item in wraps if (found := _source(item, drawn, known)) is not None), None)


def _given(
    own: list[ast.AST], names: set[str], drawn: dict[str, ast.expr], known: dict[str, str]
) -> tuple[ast.Call, ast.expr, bool] | None:
    """(call of the target, what draws its argument, whether that is a seed) of the first such call."""
    for node in own:
        if isinstance(node, ast.Call) and last_name(node.func) in names:
            for name, item in (
                *((None, item) for item in node.args),
                *((one.arg, one.value) for one in node.keywords),
            ):
                source = _source(item, drawn, known)
                if source is not None:
                    return node, source, name in ("seed", "random_state", "random_seed")
    return None


def _mentions(node: ast.AST, hang: set[str], call: ast.Call) -> bool:
    return any(item is call or (isinstance(item, ast.Name) and item.id in hang) for item in walk(node))


def _hanging(assigned: list[ast.Assign | ast.AugAssign], call: ast.Call) -> set[str]:
    """The names whose values hang on what a call gives."""
    hang: set[str] = set()
    for node in assigned:
        if _mentions(node.value, hang, call):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            hang |= {item.id for target in targets for item in walk(target) if isinstance(item, ast.Name)}
    return hang


def _stored(
    node: ast.AST, hang: set[str], call: ast.Call, assigned: list[ast.Assign | ast.AugAssign], *, seeds: bool
) -> str:
    """The stored values that a comparison has on its other side; "" for all else."""
    if seeds and isinstance(node, ast.Compare):
        between = [item for item in (node.left, *node.comparators) if _is_broken(item)]
        hangs = any(isinstance(item, ast.Name) and item.id in hang for item in node.comparators)
        return f"`{ast.unparse(node)[:60]}`" if len(between) == 2 and hangs else ""
    found = sides_of(node)
    if found is None or found.differ:
        return ""
    for ours, other in ((found.left, found.right), (found.right, found.left)):
        if not _mentions(ours, hang, call) or _FORM.search(ast.unparse(ours)) or _mentions(other, hang, call):
            continue
        values = [item.value for item in assigned if isinstance(other, ast.Name) and _sets(item, other.id)]
        value = values[0] if len(values) == 1 else other
        numbers = {item.value for item in walk(value) if isinstance(item, ast.Constant) and _is_broken(item)}
        listed = isinstance(value, ast.List | ast.Tuple) or (isinstance(value, ast.Call) and _is_array(value))
        if (listed and len(numbers) > 1) or reads_file(value):
            return f"`{ast.unparse(other)[:40]}`"
    return ""


def _sets(node: ast.Assign | ast.AugAssign, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(dotted(target) == name for target in node.targets)


def _is_array(node: ast.Call) -> bool:
    return (
        last_name(node.func) in ("tensor", "array", "Tensor")
        and bool(node.args)
        and isinstance(node.args[0], ast.List)
    )


def _is_broken(node: ast.expr) -> bool:
    """Whether it is a number with digits behind its point, and no tolerance."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, float) and not value.is_integer() and abs(value) >= 0.01

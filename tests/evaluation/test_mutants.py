"""Mutants: each operator makes what its examples show, and what comes out is Python, new, and stays named."""

from __future__ import annotations

import ast
import random
import re
import textwrap
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.core import code
from lmr_author.core.task import Target
from lmr_author.proof.evaluation.mutants import Mutant, mutants
from lmr_author.proof.evaluation.mutants.operators import OPERATORS
from tests.masking.roundtrip import standard_files

HEAD = "import torch\nimport torch.nn.functional as F\n\n\ndef f(x, y=2):\n"


def framed(body: str) -> str:
    return HEAD + textwrap.indent(body, "    ") + "\n"


def of_body(body: str, most: int | None = None, differentiated: Sequence[str] = ()) -> tuple[Mutant, ...]:
    return of(framed(body), most, differentiated)


def of(text: str, most: int | None = None, differentiated: Sequence[str] = ()) -> tuple[Mutant, ...]:
    module = code.Module.parse(text.encode(), "file.py")
    return mutants(module, code.find(module, Target("file.py", "f")), most, differentiated)


def as_tree(text: str) -> str:
    return ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [(kind.name, *example) for kind in OPERATORS for example in kind.examples],
)
def test_an_operator_does_what_its_example_shows(operator: str, before: str, after: str) -> None:
    frame = framed(before).removesuffix("\n").partition(textwrap.indent(before, "    ")[4:])[0].rstrip(" ")
    wanted = as_tree(frame + textwrap.indent(after, "    "))
    made = [item for item in of_body(before, None, ["x", "y"]) if as_tree(item.data.decode()) == wanted]
    assert [item.operator for item in made] == [operator]


@pytest.mark.parametrize(
    ("head", "made"),
    [
        ("DEBUG = False\n", False),
        ("DEBUG = True\n", True),
        ("DEBUG = False\nDEBUG = g()\n", True),
        ("", True),
    ],
)
def test_what_a_switch_of_the_file_leaves_out_has_no_mutants(head: str, made: bool) -> None:
    text = head + framed("if DEBUG:\n    x = x / 7\nreturn x * y")
    assert bool([mutant for mutant in of(text) if "x / 8" in mutant.after]) is made


@pytest.mark.parametrize(
    ("computed", "detached"),
    [
        ("torch.ones(len(x)) * x.mean()", True),
        ("torch.ones(3).cuda(x.get_device())", False),
        ("torch.ones(x.shape[0], device=x.device)", False),
        ("torch.tensor(x.tolist())", False),
        ("torch.zeros_like(x) + torch.argmax(x)", False),
    ],
)
def test_only_what_gradients_flow_through_is_detached(computed: str, detached: bool) -> None:
    made = of_body(f"z = {computed}\nreturn x * z", None, ["x"])
    assert bool([mutant for mutant in made if "z.detach()" in mutant.after]) is detached


@pytest.mark.parametrize(
    "guard",
    ["x / (y + 1e-12)", "x / torch.clamp(y, 1e-6)", "F.normalize(x, eps=1e-8)", "torch.log(1e-9 + x)"],
)
def test_a_guard_against_a_division_by_zero_is_neither_moved_nor_turned(guard: str) -> None:
    changed = [item.after for item in of_body(f"return {guard}")]
    assert changed
    assert not [line for line in changed if re.search(r"- 1e|e-11|e-05|e-07|1\.01e", line)]


def changes(body: str) -> list[str]:
    return [item.diff for item in of_body(body)]


@pytest.mark.parametrize(
    ("body", "unnoticeable"),
    [
        ("return max(x, y)", "max(y, x)"),
        ("return x.addcmul_(y.sign(), z, value=-0.1)", "addcmul_(z, y.sign()"),
        ("return x.fill_diagonal_(-1e9) + y", "-10000000000.0"),
        ("return x.reshape(1, -1) + y", "-2"),
        ("return x.flatten(1) + y", "flatten(2)"),
        ("return accuracy_score(x, y, average='binary')", "accuracy_score(x, y)\n"),
        ("torch.cuda.synchronize()\nreturn x * y", "synchronize"),
        ("return F.mse_loss(x, y)", "mse_loss(y, x)"),
        ("return (x - y) ** 2", "(y - x) ** 2"),
        ("return (x - y).abs()", "(y - x).abs()"),
        ("return torch.cat([x, y], dim=0)", "cat([x, y])"),
        ("return x.topk(2, dim=-1)", "x.topk(2)"),
        ("return x.masked_fill(y == 0, -1e9)", "-10000000000.0"),
        ("x[y] = -9999\nreturn x * 2", "10000"),
        ("x = x / y\nreturn x", "x = x\n"),
        ("x = x.cuda()\nreturn x * y", "cuda"),
        ("return g(x).to(torch.device(y)) + 1", "+    return g(x) + 1"),
        ("offset = 0\nreturn x + y", "offset"),
        ("count = 0\nfor i in x:\n    count += 1\nprint(count)\nreturn y * 2", "count"),
        ("loss = (x - y).mean()\nprint(loss)\nreturn x * 2", "loss"),
        ("if y > 3:\n    print(x)\nreturn x * 2", "if"),
        ("z = torch.zeros(3)\nz[0] = x / 2\nprint(z.sum())\nreturn x * y", "z"),
        ("if False:\n    x = x + y\nreturn x * 2", "x + y"),
        ("return x * 2\nx = x + y", "x - y"),
        ("z = torch.empty(len(x))\nz[:] = x * 2\nreturn z", "ones"),
        ("for i in tqdm(x, desc='go'):\n    y += i\nreturn y", "tqdm(x)"),
        ("return len(list(x)) + y", "len(x)"),
        ("return g(x, y, mask=None) + 1", "g(x, y)"),
        ("return torch.where(x < 1e-6, 1, y)", "1.01e"),
        ("class Z:\n    def __init__(self, n=3): ...\nreturn Z(n=3, m=x)", "Z(m=x)"),
        ("x_old = x\nreturn x_old * y + x", "return x * y"),
        ("return torch.diagonal(x, offset=0, dim1=1)", "diagonal(x, dim1=1)"),
        ("if x.is_cuda:\n    y = h(x / 3)\nreturn x * y", "4)"),
        ("m = Probe(penalty='l2', verbose=0, n_jobs=2)\nreturn m.fit(x) + y", "+    m ="),
    ],
)
def test_a_change_that_no_test_can_notice_is_not_made(body: str, unnoticeable: str) -> None:
    assert changes(body)
    assert not [text for text in changes(body) if unnoticeable in f"{text}\n"]


@pytest.mark.parametrize(
    ("body", "noticeable"),
    [
        ("return max(x, y, key=len)", "max(y, x, key=len)"),
        ("seen = []\nfor i in x:\n    seen.append(i)\nreturn seen", "pass"),
        ("z = torch.zeros(3)\nz[0] = x / 2\nreturn z", "x / 3"),
        ("z = x\nz[0] = y / 2\nprint(z.sum())\nreturn y", "y / 3"),
        ("y = list(y)\nfor i in x:\n    y.append(i)\nreturn x", "pass"),
        ("return x.detach() * y", "x * y"),
        ("return torch.sub(x, y)", "sub(y, x)"),
        ("return (x - y) ** 3", "(y - x) ** 3"),
        ("return (x - y).sum()", "(y - x).sum()"),
        ("return x < y", "x <= y"),
        ("return torch.eye(y, dtype=torch.float64)", "eye(y)"),
        ("return F.normalize(x, dim=-1)", "F.normalize(x)"),
        ("x = x.to(y)\nz = x + 1\nreturn z", "pass"),
        ("x = x.to(y.device, torch.half)\nz = x + 1\nreturn z", "pass"),
        ("return x.sum(dim=0)", "x.sum()"),
        ("offset = 0\nreturn x + offset", "offset = 1"),
        ("offset = x\noffset += y * 2\nreturn y", "offset -="),
        ("if y > 3:\n    print(x)\n    x = x + 1\nreturn x", "y >= 3"),
        ("z = torch.zeros(y)\nfor i in range(y):\n    if x[i]:\n        z[i] = x\nreturn z", "ones"),
        ("out = g(x + y)\nreturn x", "x - y"),
        ("return g(x, seed=y)", "g(x)"),
        ("global offset\noffset = 0\nreturn y", "offset = 1"),
        ("def check(z):\n    if z > 3:\n        raise ValueError\ncheck(x - 1)\nreturn y * 2", "pass"),
        ("def tell(z):\n    print(z)\nx.map(tell)\ntell(x - 1)\nreturn y * 2", "x + 1"),
        ("return any(isinstance(i, list) for i in x) and y", "[1:]"),
        ("return any(isinstance(i, list) for i in x if i) and y", "all("),
        ("x.out.write(str(y + 1))\nreturn x", "pass"),
        ("if y > 0:\n    x = x * y**2\nreturn x", ">="),
        ("return x.view(y, z).mean(1)", "view(z, y)"),
        ("return x.expand(y, z).sum()", "expand(z, y)"),
        ("return torch.where(x < 1e-3, 1, y)", "<="),
        ("return x / 10000 ** y", "10001"),
        ("return sorted(set(x)) + y", "sorted(x)"),
        ("return max(sorted(x), key=y)", "max(x, key=y)"),
        ("if y > 0:\n    x.mul_(1 - 0.1 * y)\nreturn x", "if False"),
        ("if y > 0:\n    x.mul_(0.1 * y)\nreturn x", ">="),
        ("if y > 0:\n    x += z\nreturn x", ">="),
        ("if y > z:\n    x += y * z\nreturn x", ">="),
        ("x_old = x\nx = x + y\nreturn x_old * x", "return x * x"),
        ("x_old = y\nreturn x_old * 2 + x", "return x * 2"),
        ("x_old = x\nreturn [(lambda x: x_old - x)(i) for i in y]", "x - x)"),
    ],
)
def test_a_change_like_one_of_these_that_a_test_can_notice_is_made(body: str, noticeable: str) -> None:
    assert [text for text in changes(body) if noticeable in text]


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("return x.weight @ y", ["return x.weight @ y.T"]),
        ("return x.mT @ y.t()", ["return x @ y.t()", "return x.mT @ y.t().T"]),
        ("return torch.mm(x.t(), y)", ["return torch.mm(x.t(), y.T)"]),
        ("return x.T * y", []),
    ],
)
def test_only_a_transposition_is_taken_away_from_a_factor(body: str, after: list[str]) -> None:
    assert [item.after.strip() for item in of_body(body) if item.operator == "transposed"] == after


def test_nothing_that_does_not_compute_is_changed() -> None:
    body = (
        '"""Doc with 1 + 2."""\nassert x > 1, "too small"\nprint(x + 1)\nlogger.info("%s", x * 2)\n'
        'if x is None:\n    raise ValueError("no" + "thing")\nz: int = x\nreturn z'
    )
    changed = {item.before.strip() for item in of_body(body)}
    assert changed == {"if x is None:", 'if x is None:\n        raise ValueError("no" + "thing")'} - {
        'if x is None:\n        raise ValueError("no" + "thing")'
    }


def test_a_mutant_says_what_it_changes_and_which_parameter_it_ignores() -> None:
    found = of_body("z = x - 1\nreturn z * y")
    ignored = next(item for item in found if item.operator == "ignored parameter")
    assert (ignored.parameter, ignored.line) == ("y", 6)
    assert ignored.diff == "+    y = 2"
    swapped = next(item for item in found if item.operator == "swapped operands")
    assert swapped.diff == "-    z = x - 1\n+    z = 1 - x"


def test_names_stay_when_something_above_changes() -> None:
    text = HEAD + "    return x - y\n"
    before = {item.id for item in of(text)}
    after = {item.id for item in of("# a line more\n" + text)}
    assert before == after and len(before) == len(of(text))
    assert before.isdisjoint(item.id for item in of(HEAD + "    return x - y - 1\n"))


def test_two_arguments_that_a_call_of_several_lines_drops_are_two_mutants() -> None:
    body = "out = g(\n    x,\n    mask=m,\n    kinds=k,\n    heads=h,\n)\nreturn out\n"
    made = of_body(body)
    dropped = [item for item in made if item.operator == "dropped keyword"]
    assert len(dropped) == 3
    assert len({item.id for item in made}) == len(made)


def test_of_many_some_of_every_line_and_kind_are_chosen() -> None:
    lines = [f"x{n} = x * {n}.5 + y - abs(x)[1:].mean(dim=-1)" for n in range(8)]
    body = "\n".join([*lines, f"return [{', '.join(f'x{n}' for n in range(8))}]"])
    everything, chosen = of_body(body), of_body(body, 16)
    assert len(chosen) == 16 < len(everything)
    assert {item.line for item in chosen} == {item.line for item in everything} >= set(range(6, 14))
    assert len({item.operator for item in chosen}) > 6


def test_formatting_encoding_and_newlines_around_a_mutant_stay() -> None:
    data = "# coding: latin-1\r\né = 1\r\ndef f(x):\r\n\tz = 'é'; w = x + 1\r\n\treturn w\r\n".encode(
        "latin-1"
    )
    module = code.Module.parse(data, "file.py")
    found = mutants(module, module.definitions[0])
    changed = next(item for item in found if item.operator == "arithmetic")
    assert changed.data == data.replace(b"x + 1", b"x - 1")


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_property_every_mutant_is_python_and_differs_in_the_target_only(rnd: random.Random) -> None:
    path = rnd.choice(SAMPLE)
    module = code.Module.parse(path.read_bytes(), path.name)
    functions = [item for item in module.definitions if item.kind == "function"]
    if not functions:
        return
    target = rnd.choice(functions)
    seen = {ast.dump(module.tree)}
    for mutant in mutants(module, target, 15):
        changed = code.Module.parse(mutant.data, path.name)
        form = ast.dump(changed.tree)
        assert form not in seen
        seen.add(form)
        same = [
            item
            for item in changed.definitions
            if (item.qualname, item.line) == (target.qualname, target.line)
        ]
        assert len(same) == 1
        assert code.outside(changed, same) == code.outside(module, [target])


SAMPLE = [
    path
    for path in standard_files()
    if path.stat().st_size < 25_000 and {"test", "lib2to3"}.isdisjoint(path.parts)  # Python 2, and worse
]

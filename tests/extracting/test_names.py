"""Inputs, outputs and what else is told about them."""

from __future__ import annotations

import pytest

from lmr_author import code
from lmr_author.extracting.extract import Extraction, extract


def of(text: str, start: int, end: int, **options: object) -> Extraction:
    return extract(code.Module.parse(text.encode(), "file.py"), start, end, "fresh", **options)  # type: ignore[arg-type]


def test_what_other_files_import_is_returned() -> None:
    text = "a = 1\nb = a + 1\nc = b\n"
    assert of(text, 2, 3).outputs == ()
    done = of(text, 2, 3, exported={"b"})
    assert (done.outputs, done.local) == (("b",), ("c",))


def test_unused_results_are_not_returned() -> None:
    done = of("def f(x):\n    y = x\n    z = y\n    return y\n", 2, 3)
    assert (done.inputs, done.outputs) == (("x",), ("y",))


def test_bound_anew_before_it_is_read() -> None:
    assert of("def f(x):\n    y = x\n    y = 2\n    return y\n", 2, 2).outputs == ()


def test_read_on_one_way_only() -> None:
    text = "def f(x):\n    y = x\n    if x:\n        y = 2\n    return y\n"
    assert of(text, 2, 2).outputs == ("y",)


def test_a_loop_reads_what_its_last_turn_left() -> None:
    text = "def f(items):\n    last = 0\n    for x in items:\n        print(last)\n        last = x\n"
    assert of(text, 5, 5).outputs == ("last",)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("x.append(y)", "x"),
        ("x[y] = 1", "x"),
        ("x.y.z[0].w = y", "x"),
        ("x[0] += y", "x"),
        ("del x[y]", "x"),
        ("x.add_(y)", "x"),
        ("x.step(y)", "x"),
        ("for x[0] in y: pass", "x"),
        ("x.__init__(y)", ""),
        ("x.mean(y)", ""),
        ("print(x[y])", ""),
        ("x = x + y", ""),
        ("x._private_(y)", ""),
    ],
)
def test_mutated(line: str, changed: str) -> None:
    done = of(f"def f(x, y):\n    print()\n    {line}\n    return 0\n", 3, 3)
    assert done.mutated == ((changed,) if changed else ())


def test_a_method_of_a_class_with_its_own_first_name() -> None:
    text = "class A:\n    def f(this, x):\n        y = this.n + x\n        return y\n"
    done = of(text, 3, 3)
    assert (done.qualname, done.inputs) == ("A.fresh", ("this", "x"))


def test_a_nested_class_names_the_whole_path() -> None:
    text = "class A:\n    class B:\n        def f(self):\n            x = self\n            return x\n"
    assert of(text, 4, 4).qualname == "A.B.fresh"


def test_a_function_in_a_method_is_no_method() -> None:
    text = "class A:\n    def f(self):\n        def g():\n            x = self\n            return x\n"
    done = of(text, 4, 4)
    assert (done.qualname, done.inputs) == ("fresh", ("self",))


def test_no_method_where_self_is_bound_anew() -> None:
    text = "class A:\n    def f(self):\n        x = self\n        self = 1\n        return x, self\n"
    assert of(text, 3, 3).qualname == "fresh"


def test_a_compiled_function_is_remarked() -> None:
    text = "import torch\n@torch.jit.script\ndef f(x):\n    y = x\n    return y\n"
    assert any("@torch.jit.script" in item for item in of(text, 4, 4).remarks)

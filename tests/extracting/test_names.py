"""Inputs, outputs and what else is told about them."""

from __future__ import annotations

from lmr_author.authoring.extracting.extract import Extraction, extract
from lmr_author.core import code


def of(text: str, start: int, end: int, **options: object) -> Extraction:
    return extract(code.Module.parse(text.encode(), "file.py"), start, end, "fresh", **options)  # type: ignore[arg-type]


def test_what_other_files_import_is_returned() -> None:
    text = "a = 1\nb = a + 1\nc = b\n"
    assert of(text, 2, 3).outputs == ()
    done = of(text, 2, 3, exported={"b"})
    assert (done.outputs, done.local) == (("b",), ("c",))


def test_a_method_of_a_class_with_its_own_first_name() -> None:
    text = "class A:\n    def f(this, x):\n        y = this.n + x\n        return y\n"
    done = of(text, 3, 3)
    assert (done.qualname, done.inputs) == ("A.fresh", ("this", "x"))


def test_a_nested_class_names_the_whole_path() -> None:
    text = "class A:\n    class B:\n        def f(self):\n            x = self\n            return x\n"
    assert of(text, 4, 4).qualname == "A.B.fresh"


def test_a_function_in_a_method_is_no_method() -> None:
    text = "class A:\n    def f(self):\n        def g(this):\n            x = this\n            return x\n"
    done = of(text, 4, 4)
    assert (done.qualname, done.inputs) == ("fresh", ("this",))


def test_no_method_where_self_is_bound_anew() -> None:
    text = "class A:\n    def f(self):\n        x = self\n        self = 1\n        return x, self\n"
    assert of(text, 3, 3).qualname == "fresh"

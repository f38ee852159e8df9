"""Answers of every form in their place: the target exchanged, helpers kept, everything else as it was."""

from __future__ import annotations

import ast
import textwrap
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.core.code import Module, find
from lmr_author.core.task import Target
from lmr_author.proof.evaluation.candidates.fitting import FittedAnswer, Slot, fit
from lmr_author.proof.evaluation.candidates.reply import InvalidAnswer

GOAL = '''\
# coding: utf-8
"""Losses."""
from __future__ import annotations

import math
import numpy as np

SCALE = 2.0


def other(x):
    return x


@np.vectorize
def hinge(x, margin=1.0):
    """Hinge loss."""
    raise NotImplementedError


class Meter:
    limit = 3

    def __init__(self):
        self.values = []

    # about add
    def add(self, value):
        raise NotImplementedError

    def last(self):
        return self.values[-1]
'''


def fitted(answer: str, *names: str) -> FittedAnswer:
    return fit(answer, place(*names))


def place(*names: str, text: str = GOAL) -> Slot:
    module = Module.parse(text.encode(), "pkg/losses.py")
    targets = (find(module, Target(module.name, name)) for name in names or ("hinge",))
    return Slot(module, tuple(targets))


def without_target(data: bytes, name: str) -> list[str]:
    """Every other definition's source, in the order of the file."""
    text = data.decode()
    return [
        ast.get_source_segment(text, node) or ""
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name != name
    ]


def replaced(body: str, name: str = "hinge") -> str:
    """GOAL with the mask of a function replaced."""
    old = {
        "hinge": "    raise NotImplementedError\n\n\nclass",
        "add": "        raise NotImplementedError\n\n    def last",
    }
    new = old[name].replace(" " * (4 if name == "hinge" else 8) + "raise NotImplementedError", body, 1)
    return GOAL.replace(old[name], new, 1)


BODY = "    gap = margin - x  # how far\n    return gap if gap > 0 else 0.0"
FUNCTION = f'def hinge(x, margin=1.0):\n    """Hinge loss."""\n{BODY}\n'
FORMS = {
    "function": FUNCTION,
    "indented as a whole": textwrap.indent(FUNCTION, "        "),
    "with Windows line endings": FUNCTION.replace("\n", "\r\n"),
    "with a byte order mark": "\ufeff" + FUNCTION,
    "indented by tabs": FUNCTION.replace("    ", "\t"),
    "whole file": replaced(BODY),
    "body": textwrap.dedent(BODY),
    "body whose first line lost its indentation": BODY.lstrip(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_file(form: str) -> None:
    found = fitted(FORMS[form])
    assert found.data.decode() == replaced(BODY)
    assert (found.kept, found.unchanged) == ((), False)
    assert found.dropped == ()
    assert found.line == GOAL[: GOAL.index("def hinge")].count("\n") + 1


METHOD_BODY = "        self.values.append(value)\n        return math.fsum(self.values)"
METHOD = f"def add(self, value):\n{textwrap.indent(textwrap.dedent(METHOD_BODY), '    ')}\n"


@pytest.mark.parametrize(
    "answer",
    [
        METHOD,
        textwrap.indent(METHOD, "    "),
        f"class Meter:\n{textwrap.indent(METHOD, '    ')}",
        textwrap.indent(METHOD, "    ").lstrip(),
        replaced(METHOD_BODY, "add"),
        METHOD_BODY,
    ],
)
def test_a_method_at_any_indentation(answer: str) -> None:
    found = fitted(answer, "Meter.add")
    assert found.data.decode() == replaced(METHOD_BODY, "add")
    assert found.dropped == ()


def test_strings_keep_every_character() -> None:
    text = 'def hinge(x, margin=1.0):\n    """Hinge loss."""\n    return """a\n  b\n\n        c\n"""\n'
    assert '    return """a\n  b\n\n        c\n"""\n\n\nclass' in fitted(text).data.decode()
    method = 'def add(self, value):\n    return f"""{value}\n  b"""\n'
    assert '        return f"""{value}\n  b"""\n\n    def last' in fitted(method, "Meter.add").data.decode()


def test_helpers_imports_and_constants_are_kept_and_named() -> None:
    answer = (
        "from __future__ import annotations\nimport math\nimport functools\nfrom typing import Any, List\n"
        "EPSILON = 1e-6\n\n@functools.cache\ndef helper(x):\n    return x + EPSILON\n\n\n"
        "class Box:\n    pass\n\n\n" + "@np.vectorize\n" + FUNCTION.replace("gap > 0", "helper(gap) > 0")
    )
    found = fitted(answer)
    assert found.kept == ("functools", "EPSILON", "helper")
    assert found.dropped == ()
    text = found.data.decode()
    assert text.index("@functools.cache\ndef helper") < text.index("@np.vectorize\ndef hinge")
    assert text.splitlines()[found.line - 1].startswith("def hinge")
    assert without_target(found.data, "hinge")[-3:] == without_target(GOAL.encode(), "hinge")[-3:]


def test_a_method_brings_other_methods_along() -> None:
    answer = (
        textwrap.indent(METHOD + "    return self._mean()\n", "    ")
        + "\n    def _mean(self):\n        return 1\n\n    def last(self):\n        return 2\n"
    )
    for text in (answer, "class Meter:\n" + answer):
        found = fitted(text, "Meter.add")
        assert found.kept == ("Meter._mean",)
        assert "changes Meter.last" in found.dropped
        assert "    def _mean(self):\n        return 1\n\n    def add(self, value):" in found.data.decode()
        assert "return self.values[-1]" in found.data.decode()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("SCALE = 3.0\n" + FUNCTION, "changes SCALE"),
        ("def other(x):\n    return 2\n\n" + FUNCTION, "changes other"),
        ("import numpy.linalg as np\n" + FUNCTION, "changes np"),
        (FUNCTION + "\nprint(hinge(2))\n", "code at module level, line 6: print(hinge(2))"),
        (FUNCTION + "\nif __name__ == '__main__':\n    hinge(1)\n", "code at module level"),
    ],
)
def test_edits_elsewhere_are_reported_and_not_applied(answer: str, said: str) -> None:
    found = fitted(answer)
    assert any(item.startswith(said) for item in found.dropped), found.dropped
    assert found.data.decode() == replaced(BODY)


@pytest.mark.parametrize(
    "answer",
    [
        "@np.vectorize\n" + FUNCTION,
        FUNCTION.replace("margin=1.0", "margin"),
        FUNCTION.replace("x,", "x: float,").replace("):", ") -> float:"),
    ],
)
def test_decorators_and_the_signature_stay_those_of_the_task(answer: str) -> None:
    assert fitted(answer).data.decode() == replaced(BODY)


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        (FUNCTION.replace("margin=1.0", "margin=2.0"), "changes the default of margin: 2.0"),
        ("async " + FUNCTION, "is async in only one"),
        (
            "@np.vectorize\n@np.frompyfunc\n" + FUNCTION,
            "adds a decorator below those of hinge: @np.frompyfunc",
        ),
    ],
)
def test_another_signature_is_refused(answer: str, seen: str) -> None:
    with pytest.raises(InvalidAnswer, match=seen):
        fitted(answer)


def test_a_decorator_that_the_answer_adds_is_applied_with_what_it_uses() -> None:
    answer = f"import functools\n\ndef twice(f):\n    return f\n\n@twice\n@np.vectorize\n{FUNCTION}"
    found = fitted(answer)
    assert "\n\n@twice\n@np.vectorize\ndef hinge" in found.data.decode()
    assert found.kept == ("twice",)
    assert found.data.decode().splitlines()[found.line - 1].startswith("def hinge")


@pytest.mark.parametrize("answer", ["def hinge(x, margin=1.0):\n    raise NotImplementedError\n", GOAL])
def test_an_answer_that_does_nothing_is_noticed(answer: str) -> None:
    text = answer if answer == GOAL else answer.replace(":\n", ':\n    """Hinge loss."""\n')
    assert fitted(text).unchanged


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "empty"),
        ("I cannot do this.", "no Python code; it begins with 'I cannot do this.'"),
        ("def hinge(x:\n  return", "not Python: line 1"),
        ("def other_name(x):\n    return x\n", "does not define hinge; it has other_name"),
        ("def hinge(x):\n    return '\ud800'\n", "not Python"),
        ("(" * 5000, "no Python code"),
        ("sorry", "does not define hinge"),
    ],
)
def test_what_is_no_answer_is_invalid(answer: str, said: str) -> None:
    with pytest.raises(InvalidAnswer) as error:
        fitted(answer)
    assert said in error.value.message


def test_windows_line_endings_and_tabs_of_the_goal_file_stay() -> None:
    text = GOAL.replace("    ", "\t").replace("\n", "\r\n")
    found = fit(FUNCTION, place(text=text))
    assert found.data.decode() == replaced(BODY).replace("    ", "\t").replace("\n", "\r\n")


def test_a_class_stands_for_its_methods() -> None:
    init = "class Meter:\n    def __init__(self):\n        self.values = [1]\n\n"
    answer = init + "    def add(self, value):\n        return 5\n"
    found = fitted(answer, "Meter.__init__", "Meter.add")
    text = found.data.decode()
    assert "self.values = [1]" in text and "return 5" in text and found.dropped == ()
    assert fitted(init, "Meter.__init__", "Meter.add").dropped == ("the answer lacks Meter.add",)


def test_other_masked_functions_are_another_answers_business() -> None:
    """The model was given both masked, answers both, and is judged on one with the other golden."""
    golden_add = replaced(METHOD_BODY, "add")
    where = replace(place(text=golden_add), given=place().goal, others=("Meter.add",))
    answer = replaced(BODY).replace("raise NotImplementedError", "return 'mine'")
    found = fit(answer, where)
    assert found.data.decode() == golden_add.replace(
        '    """Hinge loss."""\n    raise NotImplementedError', f'    """Hinge loss."""\n{BODY}'
    )
    assert (found.kept, found.dropped) == ((), ())


def test_a_whole_file_with_a_fence_in_a_docstring_is_read_as_a_file() -> None:
    text = replaced(BODY).replace(
        '"""Losses."""', '"""Losses.\n\n```python\ndef hinge(x): return 0\n```\n"""'
    )
    assert f"{BODY}\n\n\nclass" in fitted(text).data.decode()


@given(st.text(max_size=200))
def test_any_text_is_fitted_or_invalid(text: str) -> None:
    try:
        found = fitted(text)
    except InvalidAnswer:
        return
    ast.parse(found.data)


HOSTILE = {
    "fences": "```\n" * 60_000,
    "unfinished functions": "def f(x\n" * 60_000,
    "unfinished blocks": "```python\ndef f(:\n```\n" * 20_000,
    "tags": "<think>" * 60_000,
    "marks of a search": "<<<<<<< SEARCH\n" * 60_000,
    "hunks": "@@\n+a\n" * 60_000,
    "brackets": "[" * 400_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_reply_that_is_made_to_be_slow_is_refused(name: str) -> None:
    began = time.process_time()
    with pytest.raises(InvalidAnswer):
        fitted(HOSTILE[name])
    assert time.process_time() - began < 30, "quadratic time would be minutes"


def test_an_edit_that_does_not_fit_is_named() -> None:
    with pytest.raises(
        InvalidAnswer,
        match=r"an edit does not apply: pkg/losses.py does not contain the lines that begin with 'of another'",
    ):
        fitted("<<<<<<< SEARCH\n    of another\n=======\n    return 1\n>>>>>>> REPLACE\n")


def test_a_function_beside_a_bare_method_is_put_where_it_is_called() -> None:
    helpers = "def _scaled(self, value):\n    return value\n\n\ndef _own(self):\n    return 1\n\n\n"
    answer = f"{helpers}def add(self, value):\n    return _scaled(self, value) + self._own()\n"
    found = fitted(answer, "Meter.add")
    assert set(found.kept) == {"_scaled", "Meter._own"}
    assert "\ndef _scaled(self, value):" in found.data.decode()
    assert "\n    def _own(self):" in found.data.decode()


def test_a_table_is_filled_as_in_the_answer_and_a_drafts_helper_is_replaced() -> None:
    draft = "```python\ndef helper(x):\n    return 0\n```\n"
    code = "TABLE = {}\nTABLE[1] = 2\n\ndef helper(x):\n    return TABLE[x]\n\n"
    code += FUNCTION.replace("else 0.0", "else helper(1)")
    text = fitted(f"{draft}better:\n```python\n{code}```").data.decode()
    assert text.count("def helper(x):") == 1 and "return TABLE[x]" in text
    assert text.index("TABLE = {}") < text.index("TABLE[1] = 2") < text.index("def hinge")


def test_what_the_code_says_of_thoughts_is_no_thought() -> None:
    body = BODY.replace("0.0", 'len(x.split("</think>")) + len("<think>")')
    assert '"</think>"' in fitted(f"```python\n{FUNCTION.replace(BODY, body)}```").data.decode()

"""Whether a test wants two sides to be equal."""

from __future__ import annotations

import ast

import pytest

from lmr_author.checks.comparing import comparisons

WANTED = (
    "assert a == b",
    "assert not a != b",
    "assert torch.allclose(a, b)",
    "assert abs(a - b) < 1e-6",
    "assert not abs(a - b) > 1e-6",
    "assert 1e-6 >= abs(a - b)",
    "assert not 1e-6 < np.abs(a - b).max()",
    "self.assertLess(abs(a - b), 1e-6)",
    "self.assertEqual(a, b)",
    "self.assertTrue(a == b)",
    "self.assertFalse(a != b)",
    "self.assertFalse(not a == b)",
    "passed = a == b",
    "return bool((a == b).all())",
    "if a == b:\n    log('Passed')\nelse:\n    log('Failed')",
    "if a != b:\n    raise AssertionError",
    "if not a == b:\n    raise AssertionError",
    "if not torch.allclose(a, b):\n    sys.exit(1)",
    "if not torch.allclose(a, b):\n    passed = False",
    "if abs(a - b) > 1e-6:\n    return False",
    "if not np.allclose(a, b):\n    errors.append('loss')",
    "verdict = 'Failed' if a != b else 'Passed'",
    "verdict = 'Passed' if a == b else 'Failed'",
    "ok = False if not a == b else ok",
)
UNWANTED = (
    "assert a != b",
    "assert not a == b",
    "assert not torch.allclose(a, b)",
    "assert abs(a - b) > 1e-6",
    "assert 1e-6 <= abs(a - b)",
    "self.assertFalse(torch.equal(a, b))",
    "self.assertTrue(not a == b)",
    "if a == b:\n    raise AssertionError",
    "if torch.allclose(a, b):\n    passed = False",
    "if not a != b:\n    sys.exit(1)",
    "verdict = 'Failed' if a == b else 'Passed'",
)


def _wanted(text: str) -> bool:
    tree = ast.parse("def test(self, a, b):\n" + "\n".join(f"    {line}" for line in text.splitlines()))
    (one,) = comparisons(tree)
    assert {ast.unparse(one.left), ast.unparse(one.right)} == {"a", "b"}
    return one.wanted


def _compared(*lines: str) -> list[tuple[str, str, bool]]:
    found = comparisons(ast.parse("\n".join(lines)))
    return [(ast.unparse(one.left), ast.unparse(one.right), one.wanted) for one in found]


@pytest.mark.parametrize(
    "body",
    [
        "    return abs(a - b) < tol",
        "    if abs(a - b) > tol:\n        return False\n    return True",
        "    return np.allclose(b, a, atol=tol)",
    ],
)
def test_a_function_of_the_test_may_compare_its_arguments(body: str) -> None:
    function = f"def close(a, b, tol=1e-6):\n{body}"

    assert (_compared(function, "assert close(got, want)"))[1:] in (
        [("got", "want", True)],
        [("want", "got", True)],
    )
    assert _compared(function, "assert not close(got, want)")[1][2] is False
    assert len(_compared(function, "assert close(*both)", "assert other.close(got, want)")) == 1


def test_a_function_that_looks_for_a_name_compares_none_of_its_arguments() -> None:
    function = "def load(name):\n    return [node for node in tree.body if node.name == name][0]"

    assert len(_compared(function, "expected = json.load(file)", "load(expected)")) == 1


@pytest.mark.parametrize("text", WANTED)
def test_equal_sides_are_wanted(text: str) -> None:
    assert _wanted(text)


@pytest.mark.parametrize("text", UNWANTED)
def test_equal_sides_are_not_wanted(text: str) -> None:
    assert not _wanted(text)

"""Assertions in which what is expected is only the message, beside those in which it is one."""

from __future__ import annotations

import ast

import pytest

from lmr_author.checks.sites import compares_nothing


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("self.assertTrue(found.tolist(), [0, 2])", "assertEqual"),
        ("self.assertTrue(found.shape, torch.Size([2, 3]))", "assertEqual"),
        ("self.assertTrue(found, expected)", "assertEqual"),
        ("self.assertTrue(len(found), 3)", "assertEqual"),
        ("self.assertTrue(loss.item(), -0.5)", "assertEqual"),
        ("self.assertFalse(found, golden_output)", "assertNotEqual"),
        ("assert found.shape, (2, 3)", "=="),
        ("assert len(found), 3", "=="),
        ("assert loss, expected_loss", "=="),
    ],
)
def test_the_second_part_was_meant_to_be_compared(line: str, meant: str) -> None:
    assert compares_nothing(_only(line)) == meant


@pytest.mark.parametrize(
    "line",
    [
        "self.assertTrue(torch.allclose(found, expected), expected)",
        "self.assertTrue(found == expected, found)",
        "self.assertTrue(ok, 'wrong')",
        "self.assertTrue(ok, f'wrong: {found}')",
        "self.assertTrue(ok, message)",
        "self.assertTrue(ok, 'wrong: %s' % found)",
        "self.assertTrue(ok, 'wrong: ' + str(found))",
        "self.assertTrue(ok, str(found))",
        "self.assertTrue(ok, 'wrong {}'.format(found))",
        "self.assertTrue(found.equal(expected), [1])",
        "self.assertTrue(isinstance(found, list), expected)",
        "self.assertTrue(not found, 3)",
        "self.assertTrue(found)",
        "self.assertTrue(found, True)",
        "self.assertEqual(found, [0, 2])",
        "assert found == expected, expected",
        "assert np.allclose(found, expected), found",
        "assert found, 'nothing found'",
        "assert found",
    ],
)
def test_it_is_a_message(line: str) -> None:
    assert compares_nothing(_only(line)) == ""


def _only(line: str) -> ast.AST:
    statement = ast.parse(line).body[0]
    return statement.value if isinstance(statement, ast.Expr) else statement

"""Where a test fails: assertions, exits and raises, and what they depend on."""

from __future__ import annotations

import ast
import re
import sys

from lmr_author.checks.syntax import dotted
from lmr_author.source import bound_by, each, walk

EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit", "SystemExit"})
_ENVIRONMENT = (
    "path.exists",
    "path.isfile",
    "path.isdir",
    ".exists",
    ".is_file",
    ".is_dir",
    ".is_available",
    ".callable",
    ".hasattr",
    ".isinstance",
)


def is_interesting(name: str) -> bool:
    """Whether a call inside a `try` may be the test itself: not reading, logging or cleaning up."""
    last = name.rpartition(".")[2]
    return bool(last) and last not in (
        "print",
        "open",
        "load",
        "close",
        "remove",
        "unlink",
        "makedirs",
        "mkdir",
        "rmtree",
        "info",
        "error",
        "join",
        "exists",
        "read",
        "import_module",
        "insert",
        "append",
        "getLogger",
        "basicConfig",
        "set_start_method",
        "is_available",
        "format",
        "str",
        "write",
    )


def is_exit(node: ast.AST) -> bool:
    """An exit with a code that is not always 0, or a raise."""
    if isinstance(node, ast.Raise):
        return node.exc is not None and not is_exit_name(node.exc)  # a call of it is one of EXITS
    return (
        isinstance(node, ast.Call)
        and dotted(node.func) in EXITS
        and bool(node.args)
        and not is_zero(node.args[0])
    )


def is_exit_name(node: ast.AST) -> bool:
    """``SystemExit``, called or not."""
    return dotted(node.func if isinstance(node, ast.Call) else node) == "SystemExit"


def is_assert_name(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.lower().startswith("assert") or last == "fail" or name.endswith("testing.assert_close")


def is_site_call(node: ast.Call) -> bool:
    name = dotted(node.func)
    if is_assert_name(name):
        if name.rpartition(".")[2] in ("assertIsInstance", "assertIsNotNone") or compares_nothing(node):
            return False
        return name.endswith("fail") or not node.args or any(depends(item) for item in node.args)
    if name.rpartition(".")[2] in (
        "check_call",
        "check_output",
        "check_returncode",
        "run_path",
        "run_module",
    ):
        return True
    if any(
        item.arg == "check" and isinstance(item.value, ast.Constant) and item.value.value is True
        for item in node.keywords
    ):
        return name.startswith("subprocess")
    return is_exit(node)


def depends(node: ast.expr) -> bool:
    """Whether a condition can be false for a wrong result.

    Not so: a constant, a tuple (true, whatever it holds), a method that is not called, a question about files or
    hardware, or one that only asks for the type of a result or whether there is one.
    """
    if isinstance(node, ast.Constant | ast.Lambda) or any(why_it_holds(node)):
        return False
    if isinstance(node, ast.Call):
        name = "." + dotted(node.func)
        return not name.endswith(_ENVIRONMENT)
    if isinstance(node, ast.UnaryOp):
        return depends(node.operand)
    if isinstance(node, ast.BoolOp):
        return any(depends(item) for item in node.values)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return not is_none(node.comparators[0])
    return True


def why_it_holds(node: ast.expr) -> tuple[str, str]:
    """Why an assertion holds in any case, and what to do; nothing when it may fail."""
    if _is_uncalled(node):
        return "the method is not called", "write () behind it"
    if isinstance(node, ast.Tuple) and node.elts:
        return "it is a tuple", "leave out the parentheses"
    if isinstance(node, ast.GeneratorExp):
        return "a generator is true", "write all(…) around it"
    if isinstance(node, ast.List | ast.ListComp | ast.Dict | ast.DictComp) and _has_comparison(node):
        return "a list is true when there is something in it", "write all(…) around it"
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and any(map(_is_true, node.values)):
        return "one of its alternatives is always true", "leave that alternative out"
    return "", ""


_TEXTS = ("str", "repr", "format", "join", "dumps", "_formatMessage", "strip", "getvalue")
_WANTED = re.compile(r"expect|target|golden|reference|truth|wanted|label|correct|answer")


def compares_nothing(node: ast.AST) -> str:
    """What to write in place of ``assertTrue(result, expected)`` or ``assert result, expected``; "" for all else.

    What comes second is the message there, and nothing is compared.
    """
    if isinstance(node, ast.Assert):
        return "==" if node.msg is not None and _is_no_message(node.test, node.msg) else ""
    if not isinstance(node, ast.Call) or len(node.args) != 2:
        return ""
    name = dotted(node.func).rpartition(".")[2]
    return _MEANT.get(name, "") if _is_no_message(*node.args) else ""


_MEANT = {
    "assertTrue": "assertEqual",
    "assert_": "assertEqual",
    "failUnless": "assertEqual",
    "assertFalse": "assertNotEqual",
}


def _is_no_message(first: ast.expr, second: ast.expr) -> bool:
    """Whether what is asserted is no question, and what follows it no text."""
    if isinstance(first, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant) or _asks(first):
        return False
    if isinstance(second, ast.Name):
        return _WANTED.search(second.id.lower()) is not None
    if isinstance(second, ast.Constant):
        return isinstance(second.value, int | float | complex) and second.value is not True
    if isinstance(second, ast.Call):
        return dotted(second.func).rpartition(".")[2] not in _TEXTS
    return isinstance(second, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.UnaryOp)


def _asks(node: ast.expr) -> bool:
    """Whether a call answers yes or no."""
    if not isinstance(node, ast.Call):
        return False
    last = dotted(node.func).rpartition(".")[2]
    return last.startswith(("is", "has")) or last in _QUESTIONS


_QUESTIONS = frozenset(
    """
    allclose equal array_equal equals all any bool callable startswith endswith exists issubset
    """.split()  # noqa: SIM905
)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def _has_comparison(node: ast.expr) -> bool:
    """Whether the parts of a list are comparisons."""
    parts = (
        [node.elt] if isinstance(node, ast.ListComp) else getattr(node, "elts", getattr(node, "values", []))
    )
    parts = [node.value] if isinstance(node, ast.DictComp) else parts
    return any(isinstance(part, ast.Compare) or _asks(part) for part in parts)


def _is_uncalled(node: ast.expr) -> bool:
    """Whether a condition is a method of an array, and nobody calls it: ``(a == b).all`` is true for all of them."""
    return isinstance(node, ast.Attribute) and node.attr in ("all", "any", "equal", "allclose", "isclose")


def is_idle(node: ast.stmt) -> bool:
    """Whether a statement is only a name: ``main`` for ``main()``, which calls nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Name | ast.Attribute)


def is_stub(node: ast.Raise) -> bool:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id in (
        "NotImplementedError",
        "ImportError",
        "ModuleNotFoundError",
        "FileNotFoundError",
    )


def is_quiet_exit(node: object) -> bool:
    """Whether an expression ends the process with 0, whatever went wrong."""
    return (
        isinstance(node, ast.Call) and dotted(node.func) in EXITS and (not node.args or is_zero(node.args[0]))
    )


def is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (0, None, False)


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def mentions(text: str, name: str) -> bool:
    return (
        bool(name)
        and name
        in text.replace(".", " ")
        .replace("(", " ")
        .replace(")", " ")
        .replace(",", " ")
        .replace("[", " ")
        .split()
    )


def never_main(node: ast.expr) -> bool:
    """Whether a condition is `__name__ == "main"` or the like: a typing error that is never true."""
    return (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and isinstance(node.ops[0], ast.Eq)
        and dotted(node.left) == "__name__"
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value != "__main__"
    )


def asks_machine(node: ast.expr) -> bool:
    """Whether a condition asks only for files, hardware or the type of something."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return asks_machine(node.operand)
    if isinstance(node, ast.BoolOp):
        return all(asks_machine(item) for item in node.values)
    return isinstance(node, ast.Call) and not depends(node)


_LIBRARIES = (sys.stdlib_module_names - {"code", "test"}) | {"torch", "numpy", "scipy", "pandas", "sklearn"}
"""Modules that are not the task's; folders called ``code`` and ``test`` often are."""


def library_names(tree: ast.Module) -> frozenset[str]:
    """Names that a module imports from the standard library, or from one that is certainly not the task's."""
    found: set[str] = set()
    for node in each(tree, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            names = [(alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names]
            found |= {bound for bound, name in names if name.partition(".")[0] in _LIBRARIES}
        elif isinstance(node, ast.ImportFrom):
            top = "" if node.level else (node.module or "").partition(".")[0]
            if top in _LIBRARIES:
                found |= set(bound_by(node))
    return frozenset(found)


def quiet_hook(tree: ast.Module) -> int:
    """The line where ``sys.excepthook`` is set to what ends the process with 0; 0 when it is not."""
    functions = {item.name: item for item in each(tree, ast.FunctionDef)}
    for node in each(tree, ast.Assign):
        if any(dotted(target) == "sys.excepthook" for target in node.targets):
            hook = functions.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
            calls = [item for item in walk(hook) if isinstance(item, ast.Call)] if hook is not None else []
            if any(is_quiet_exit(call) for call in calls):
                return node.lineno
    return 0

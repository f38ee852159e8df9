"""A test that calls a method of the target's name, but only of objects of another class of the repository."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from lmr_author.checks.assignments import Scope, assigned, own_nodes
from lmr_author.checks.reached import aliases_in, named_in, never_run, used_in
from lmr_author.checks.reading import Reading
from lmr_author.checks.syntax import argument, last_name
from lmr_author.source import Definition, FunctionNode, Module, each, is_main_guard, parameters, walk

_KNOWN_BASES = frozenset({"object", "ABC", "Protocol"})
_BY_NAME = frozenset(
    """
    getattr globals locals vars eval exec map methodcaller import_module __import__ instantiate *
    """.split()  # noqa: SIM905
)
"""What calls a method that nothing names."""


@dataclass(frozen=True)
class OtherClass:
    """What a test calls in place of the target, and where."""

    call: str
    class_name: str
    line: int


def other_class(test: Reading, files: Callable[[], list[Module]], qualname: str) -> OtherClass | None:
    """The class whose method a test calls in place of a target's; None where that is not certain.

    It is certain where each object is made in the test, by its class or by a function that looks the class up in a
    table, and where nothing else that the test uses leads to a method of that name.

    Args:
        files: reads the repository's files that the test reaches; it is asked last.
    """
    owner, _, name = qualname.rpartition(".")
    if not owner or name.startswith("__") or name in ("forward", "training_step"):
        return None
    aliases, without = aliases_in(test.module.tree), never_run(test)
    calls = [call for item in test.modules for call in _calls_in(item.tree, name, without)]
    makers = [_maker(call, scope) for call, scope in calls]
    names = [aliases.get(last_name(one.func), last_name(one.func)) if one else "" for one in makers]
    if not calls or "" in names or owner.rpartition(".")[2] in names:
        return None
    if len(calls) != sum(_mentions(item.tree, name, without) for item in test.modules):
        return None
    code = _Code(files())
    made = [code.class_of(one, called) for one, called in zip(makers, names, strict=True) if one is not None]
    if "" in made or owner.rpartition(".")[2] in made:
        return None
    used = set().union(*(used_in(item.tree, without) for item in test.modules)) - {name}
    if code.leads_to(name, used | {aliases[item] for item in used if item in aliases}, set(made)):
        return None
    first, _ = calls[0]
    return OtherClass(ast.unparse(first.func)[:60], made[0], first.lineno)


def leads_nowhere(test: Reading, files: Callable[[], list[Module]], qualname: str) -> bool:
    """Whether a test names a method nowhere, and nothing that it uses of the method's class calls it for certain."""
    owner, _, name = qualname.rpartition(".")
    without = never_run(test)
    if not owner or name.startswith("__") or name in ("forward", "training_step"):
        return False
    if any(_mentions(item.tree, name, without) for item in test.modules) or _is_given(test):
        return False
    found = files()
    return bool(found) and not _Code(found).leads_to(name, named_in(test, without), set())


def _is_given(test: Reading) -> bool:
    """Whether a test may be given things by pytest, of which nothing is known here."""
    functions = each(test.module.tree, ast.FunctionDef, ast.AsyncFunctionDef)
    return any(
        item.arg not in ("self", "cls")
        for one in functions
        if one.name.startswith("test")
        for item, _ in parameters(one.args)
    )


def _calls_in(tree: ast.Module, name: str, without: set[int]) -> list[tuple[ast.Call, Scope]]:
    """The calls of methods of a name, with what names stand for there."""
    outer = assigned(tree, {})
    scopes: list[tuple[ast.AST, Scope]] = [(tree, outer)]
    scopes += [(item, assigned(item, outer)) for item in each(tree, ast.FunctionDef, ast.AsyncFunctionDef)]
    return [
        (item, scope)
        for node, scope in scopes
        for item in own_nodes(node)
        if isinstance(item, ast.Call) and id(item) not in without
        if isinstance(item.func, ast.Attribute) and item.func.attr == name
    ]


def _maker(call: ast.Call, scope: Scope) -> ast.Call | None:
    """The call that makes the object of which a method is called: ``A(2)`` of ``one = A(2)``, ``one.step()``."""
    node = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    known = scope.get(node.id) if isinstance(node, ast.Name) else None
    node = known[0] if known is not None and known[1] < 0 else node
    return node if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


def _mentions(tree: ast.Module, name: str, without: set[int]) -> int:
    """How often a name stands anywhere in a test: as a name, an attribute, a keyword or a text."""
    return sum(
        name in (getattr(item, "attr", ""), getattr(item, "id", ""), getattr(item, "arg", ""))
        or (isinstance(item, ast.Constant) and item.value == name)
        for item in walk(tree)
        if id(item) not in without
    )


class _Code:
    """The code of the repository that a test reaches."""

    def __init__(self, files: list[Module]) -> None:
        self._found: dict[str, list[Definition]] = {}
        for item in (item for module in files for item in module.definitions):
            self._found.setdefault(item.name, []).append(item)
        self._tables: dict[str, set[str]] = {}
        self._run: set[str] = set()
        for line in (line for module in files for line in module.tree.body if not _defines_only(line)):
            targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", line)]
            stored = {item.id for target in targets for item in walk(target) if isinstance(item, ast.Name)}
            plain = isinstance(line, ast.Assign | ast.AnnAssign)
            for name in stored if plain else ():
                self._tables.setdefault(name, set()).update(used_in(line))
            self._run |= set() if plain else used_in(line)

    def _only(self, name: str) -> ast.AST | None:
        """The function or class of a name, where there is one of it."""
        found = self._found.get(name, [])
        return found[0].node if len(found) == 1 else None

    def class_of(self, call: ast.Call, called: str) -> str:
        """The class of an object that a call makes; "" where that is not certain."""
        if isinstance(self._only(called), ast.FunctionDef):
            called = self._looked_up(call, called)
        return called if isinstance(self._only(called), ast.ClassDef) else ""

    def _looked_up(self, call: ast.Call, called: str) -> str:
        """The class in the table of a function: ``return {"a": A, "b": B}[name](…)``, where the test says which."""
        function = self._only(called)
        returned = [item.value for item in each(function, ast.Return)] if function is not None else []
        made = returned[0] if len(returned) == 1 else None
        key = made.func if isinstance(made, ast.Call) else None
        if (
            not isinstance(function, ast.FunctionDef)
            or not isinstance(key, ast.Subscript)
            or not isinstance(key.slice, ast.Name)
        ):
            return ""
        names = [item.arg for item, _ in parameters(function.args)]
        table = assigned(function, {}).get(last_name(key.value))
        if key.slice.id not in names or table is None or not isinstance(table[0], ast.Dict):
            return ""
        given = argument(call, names.index(key.slice.id), key.slice.id)
        wanted = given.value if isinstance(given, ast.Constant) else None
        values = zip(table[0].keys, table[0].values, strict=True)
        same = [
            last_name(value)
            for item, value in values
            if isinstance(item, ast.Constant) and item.value == wanted
        ]
        return same[0] if len(same) == 1 and wanted is not None else ""

    def leads_to(self, name: str, used: set[str], classes: set[str]) -> bool:
        """Whether anything of the names that are used, or these classes' methods of a name, may call one of that."""
        own = {item.qualname: item.node for item in self._found.get(name, ())}
        if any(f"{one}.{name}" not in own for one in classes):
            return True
        used = used.union(*(used_in(own[f"{one}.{name}"]) for one in classes))
        used |= self._run | {
            item.name for same in self._found.values() for item in same if _is_registered(item)
        }
        waiting = list(used)
        while waiting:
            one = waiting.pop()
            parts = (_parts(item) for item in self._found.get(one, ()))
            more = self._tables.get(one, set()).union(*parts) - used
            waiting += more
            used |= more
        return bool(used & {name, *_BY_NAME}) or any(self._is_foreign(one) for one in used)

    def _is_foreign(self, name: str) -> bool:
        """Whether a class has a base of a library, which may call any of its methods."""
        nodes = [item.node for item in self._found.get(name, ())]
        bases = [base for node in nodes if isinstance(node, ast.ClassDef) for base in node.bases]
        return any(
            last_name(base) not in _KNOWN_BASES and not isinstance(self._only(last_name(base)), ast.ClassDef)
            for base in bases
        )


def _defines_only(line: ast.stmt) -> bool:
    """Whether a line of a module does nothing when it is imported but to give names."""
    return isinstance(line, FunctionNode | ast.ClassDef | ast.Import | ast.ImportFrom) or is_main_guard(line)


def _is_registered(item: Definition) -> bool:
    """Whether a decorator may keep a function or class elsewhere than under its name."""
    called = (one.func if isinstance(one, ast.Call) else one for one in item.node.decorator_list)
    return any(last_name(one) not in _QUIET for one in called)


_QUIET = frozenset(
    """
    property staticmethod classmethod dataclass cached_property lru_cache cache abstractmethod setter wraps no_grad
    inference_mode contextmanager overload
    """.split()  # noqa: SIM905
)


def _parts(item: Definition) -> set[str]:
    """What a function uses; of a class what making an object of it may: no method that has to be called."""
    if isinstance(item.node, FunctionNode):
        return used_in(item.node)
    without = {
        id(inner)
        for part in item.node.body
        if isinstance(part, FunctionNode) and not part.name.startswith("__")
        for line in part.body
        for inner in walk(line)
    }
    return used_in(item.node, without)

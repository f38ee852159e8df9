"""Do the names of a file mean what they meant? Asked of symtable, which knows nothing of the extraction."""

from __future__ import annotations

import builtins
import symtable
from collections.abc import Iterator

Path = tuple[tuple[str, int], ...]


def problems(before: str, after: str, scope: tuple[str, ...], name: str) -> list[str]:
    """Names that an extraction has cut off from what they were bound to.

    Args:
        before, after: the file's text.
        scope: names of the functions and classes around the block, outermost first.
        name: of the new function.
    """
    old = symtable.symtable(before, "before", "exec")
    new = symtable.symtable(after, "after", "exec")
    bound_before, bound_after = _bound(old), _bound(new)
    lost = bound_before - bound_after - set(dir(builtins))
    found = [
        f"{'.'.join(path)}: {item.get_name()} is bound nowhere"
        for path, table in _tables(new)
        for item in table.get_symbols()
        if item.is_referenced() and _is_global(item, table) and item.get_name() in lost
    ]
    old_scopes: dict[tuple[str, ...], list[symtable.SymbolTable]] = {}
    for path, table in _tables(old):
        old_scopes.setdefault(path, []).append(table)
    for path, table in _tables(new):
        if name not in path and len(old_scopes.get(path, ())) == 1:
            found += _changed(path, old_scopes[path][0], table)
        if path and path[-1] == name:
            for candidate in old_scopes[scope][:1] if len(old_scopes[scope]) == 1 else ():
                found += _changed(path, candidate, table)
    return found


def _changed(path: tuple[str, ...], old: symtable.SymbolTable, new: symtable.SymbolTable) -> list[str]:
    """Names of a scope that were a function's variables and are looked up in the module now."""
    if old.get_type() == "module":
        return []
    known = {item.get_name(): item for item in old.get_symbols()}
    return [
        f"{'.'.join(path)}: {item.get_name()} was a variable of the function"
        for item in new.get_symbols()
        if item.is_referenced()
        and item.is_global()
        and item.get_name() in known
        and not known[item.get_name()].is_global()
    ]


def _tables(
    table: symtable.SymbolTable, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], symtable.SymbolTable]]:
    yield path, table
    for child in table.get_children():
        yield from _tables(child, (*path, child.get_name()))


def _is_global(item: symtable.Symbol, table: symtable.SymbolTable) -> bool:
    return item.is_global() or table.get_type() == "module"


def _bound(module: symtable.SymbolTable) -> set[str]:
    """Names that a module binds, in its own statements or through ``global``."""
    found = {item.get_name() for item in module.get_symbols() if item.is_assigned() or item.is_imported()}
    for _, table in _tables(module):
        found |= {
            item.get_name()
            for item in table.get_symbols()
            if item.is_declared_global() and (item.is_assigned() or item.is_imported())
        }
    return found

"""Draft the script that drives a function: a page of Python for the annotator to read, correct and run.

Calls of the repository that can be written out are taken over; other values are those of :mod:`.draft_values`. Nothing
is run here.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from lmr_author.authoring.masking.context import lineage
from lmr_author.authoring.recording.draft_values import UNKNOWN, DraftValues, sizes
from lmr_author.core import code, files, resources
from lmr_author.runtime.probe.drivers import ways

MOST_OPTIONS, MOST_WRITTEN = 10, 4
MAX_BYTES = 300_000
"""Larger files of the repository are data."""
MOST_CALLERS, ABOVE = 12, 4
"""Lines of the repository's callers that are shown, about, and of those above each call."""
LONGEST = 300
"""Characters of a call that is taken over from the repository."""
KNOWN_NAMES = frozenset(
    {"f", "torch", "np", "numpy", "math", "range", "list", "dict", "set", "tuple", "len", "str"}
)
"""Names that a call may use to be taken over."""
SKIPPED = frozenset({"unit_test", ".git", "node_modules", "site-packages"})
_ARGUMENT = re.compile(
    r"""add_argument\(\s*['"]--?([\w-]+)['"][^()]*?default\s*=\s*([-\d.e]+|'[^'\n]*'|"[^"\n]*")"""
)


@dataclass(frozen=True)
class Drafted:
    """A drafted script.

    Attributes:
        target: its function.
        calls: number of calls that it makes.
        unknown: parameters and globals that are left to the annotator.
    """

    text: str
    target: str
    calls: int
    unknown: tuple[str, ...]


def draft_driver(repository: Path, module: code.Module, target: code.Definition, command: str) -> Drafted:
    """Draft the driver of a function.

    Args:
        repository: its tests and callers are read.
        module, target: the function, not masked.
        command: runs the script under the recorder.
    """
    # What lies in a function can only be reached by calling that.
    outer = target.qualname.removesuffix(target.function_name) + target.function_name.partition(".")[0]
    definition = next(candidate for candidate in module.definitions if candidate.qualname == outer)
    draft = _Draft(repository, module, definition)
    given = draft.inputs()
    calls = draft.calls(makes=bool(given))
    text = "\n".join([*draft.globals.values(), *draft.setup, *given, *calls])
    words = set(re.findall(r"\b[a-z]\w*", text))
    imported = set(re.findall(r"(?m)^\s*(?:import|from) (torch|numpy|random)\b", module.text))
    used = (imported - {"random"}) | (words & {"torch", "numpy"}) | ({"numpy"} if "rng" in words else set())
    folder, name = _place(module, repository)
    page = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, autoescape=False)
    script = page.from_string(resources.template("driver.py.j2")).render(
        target=f"{definition.qualname} of {module.name}",
        command=command,
        standard=sorted(
            {*(words & {"types", "asyncio"}), *(imported & {"random"}), *(["sys"] if folder else [])}
        ),
        libraries=[*sorted(used), *(["numpy as np"] if "np" in words else [])],
        folder=folder,
        module=name,
        name=(definition.class_name or definition.qualname).partition(".")[0],
        globals=draft.globals,
        sizes=sizes(text),
        setup=draft.setup,
        sized=draft.sized,
        generator="rng" in words,
        given=given,
        calls=calls,
        callers=_callers(repository, target),
    )
    head, inputs, tail = script.partition("\n\ndef inputs(")
    script = re.sub(r"\n\n\n+", "\n\n", head) + inputs + tail
    return Drafted(script, f"{module.name}::{target.qualname}", len(calls), tuple(draft.unknown))


def _place(module: code.Module, repository: Path) -> tuple[str, str]:
    """Return the folder that has to be on the path for a file, "" for the root, and the name of its module."""
    way = ways(str(repository.resolve()), module.name)[0]
    if "." not in way.module and any(
        isinstance(node, ast.ImportFrom) and node.level for node in module.tree.body
    ):
        return "", module.name.removesuffix(".py").replace("/", ".")
    folder = Path(way.path[0]).relative_to(repository.resolve()).as_posix()
    return "" if folder in (".", "src") else folder, way.module


class _Draft:
    """The parts of a script.

    Attributes:
        caller: the function, as it is called.
        construction, setup: the call that builds the object of a method, and the line with it.
        globals: those that the function reads and that only a run of its file sets, with values.
        written: arguments of calls of the repository, its tests among them, that can be written out.
        unknown: names without a value.
        sized: the first dimension of the inputs can be chosen.
    """

    def __init__(self, repository: Path, module: code.Module, definition: code.Definition) -> None:
        self.module, self.definition, self.function = module, definition, definition.function
        self.sources = list(_sources(repository))
        torch = any("import torch" in text for text in self.sources)
        defaults = _defaults(self.sources)
        self.values = DraftValues(module, self.function, defaults, torch)
        self.decorators = {ast.unparse(node).rpartition(".")[2] for node in self.function.decorator_list}
        self.caller, self.construction, self.sized = definition.qualname, "", False
        self.setup: list[str] = []
        self.unknown: list[str] = []
        self.constructor: ast.FunctionDef | None = None
        receives = bool(definition.class_name) and not self.decorators & {"staticmethod", "classmethod"}
        if definition.name == "__init__":
            self.caller = definition.class_name
        elif receives:
            classes = lineage(repository, module, definition)
            methods = [
                member for node in classes for member in node.body if isinstance(member, ast.FunctionDef)
            ]
            self.constructor = next((method for method in methods if method.name == "__init__"), None)
            self.built = self.values
            if self.constructor is not None:
                self.built = DraftValues(module, self.constructor, defaults, torch)
            owner = definition.class_name.rpartition(".")[2]
            name = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", owner).lower().strip("_").rpartition("_")[2]
            self.caller = name if definition.name in ("forward", "__call__") else f"{name}.{definition.name}"
            self.construction = self._construct(definition.class_name)
            self.setup = [f"{name} = {self.construction}{'  # TODO' if self.unknown else ''}"]
        by_name = definition.name not in ("forward", "__call__", "__init__")
        self.written = _calls(self.sources, definition.name)[:MOST_WRITTEN] if by_name else []
        self.globals = {
            name: self._known(name, self.values.of(name))
            for name in code.set_at_run_time(module.tree, self.function)
        }

    def _known(self, name: str, value: str) -> str:
        """Return a value; one that is not known is left to the annotator."""
        if UNKNOWN in value:
            self.unknown.append(name)
        return value

    def _construct(self, owner: str) -> str:
        """Return the call of the constructor: one of the repository's where a value is not known."""
        required = code.parameters(self.constructor.args)[1:] if self.constructor is not None else []
        given = {
            parameter.arg: self.built.of(parameter.arg, _annotation(parameter))
            for parameter, default in required
            if default is None
        }
        unknown = [name for name, value in given.items() if UNKNOWN in value]
        if unknown and (written := _calls(self.sources, owner.rpartition(".")[2])):
            return f"{owner}({written[0]})"
        self.unknown += unknown
        return f"{owner}({', '.join(f'{key}={value}' for key, value in given.items())})"

    def inputs(self) -> list[str]:
        """Return a line for each parameter without a default; none where the repository's calls will do."""
        if self.written and not self.definition.class_name:
            return []
        receivers = int(bool(self.definition.class_name) and "staticmethod" not in self.decorators)
        lines = []
        for parameter, default in code.parameters(self.function.args)[receivers:]:
            if default is None:
                value = self._known(parameter.arg, self.values.of(parameter.arg, _annotation(parameter)))
                about = f": {_annotation(parameter)}" if parameter.annotation else ""
                lines.append(f'"{parameter.arg}": {value},{f"  # TODO{about}" if UNKNOWN in value else ""}')
        self.sized = bool(re.search(r"\bbatch\b", "\n".join(lines)))
        return lines

    def _used_up(self, call: str) -> str:
        """Return a call that runs to its end, as that of a generator or coroutine does not by itself."""
        if isinstance(self.function, ast.AsyncFunctionDef):
            return f"asyncio.run({call})"
        return f"list({call})" if code.is_generator(self.function) else call

    def calls(self, makes: bool) -> list[str]:
        """Return the calls: with fresh inputs, another size, and each option, or those of the repository.

        Args:
            makes: there are inputs.
        """
        options = list(_options(self.function, self.values))[:MOST_OPTIONS]
        written = [self._used_up(f"{self.caller}({text})") for text in self.written]
        if written and not self.definition.class_name:
            # The repository knows better than any guess, and each option is tried with its first call.
            first = self.written[0]
            (call,) = code.each(ast.parse(f"f({first})"), ast.Call)[:1]
            free = {parameter.arg for parameter, _ in code.parameters(self.function.args)[len(call.args) :]}
            changed = [
                f"{first}, {name}={value}"
                for name, value in options
                if name in free and f"{name}=" not in first
            ]
            return [*written, *(self._used_up(f"{self.caller}({text})") for text in changed)]
        is_property = self.decorators & {"property", "cached_property"}

        def made(changes: str = "", caller: str = self.caller) -> str:
            arguments = f"**inputs({changes})" if makes else changes
            return self._used_up(caller if is_property else f"{caller}({arguments})")

        drafted = [made(), *([made("batch=2" if self.sized else "")] if makes else [])]
        drafted += [made(f"{name}={value}") for name, value in options]
        if self.constructor is not None and self.construction:
            variable = self.setup[0].partition(" = ")[0]
            for name, value in _options(self.constructor, self.built):
                if f"self.{name}" in self.values.uses and f"{name}=" not in self.construction:
                    separator = "" if self.construction.endswith("()") else ", "
                    other = f"{self.construction[:-1]}{separator}{name}={value})"
                    drafted.append(made(caller=other + self.caller.removeprefix(variable)))
        return [*drafted, *written]


def _options(function: code.FunctionNode, values: DraftValues) -> Iterator[tuple[str, str]]:
    """Yield parameters that have a default, each with another value."""
    for parameter, default in code.parameters(function.args):
        if default is None or parameter.arg in ("verbose", "debug", "device", "dtype"):
            continue
        plain = default.value if isinstance(default, ast.Constant) else ...
        others = [text for text in _texts_for(function, parameter) if text != plain]
        if others:
            yield from ((parameter.arg, repr(text)) for text in others)
        elif isinstance(plain, bool):
            yield parameter.arg, repr(not plain)
        elif isinstance(plain, int | float):
            known = values.number(parameter.arg)
            if not re.match("[a-z]|2 ", known):  # a size has to fit others
                yield parameter.arg, repr(plain * 2) if plain > 0 and plain != 1 else known or "2"
        elif plain is None:
            value = values.of(parameter.arg, _annotation(parameter))
            if UNKNOWN not in value and value[0] not in '["':  # a text or list has to fit others
                yield parameter.arg, value


def _annotation(parameter: ast.arg) -> str:
    return ast.unparse(parameter.annotation).strip("'\"") if parameter.annotation is not None else ""


def _texts_for(function: code.FunctionNode, parameter: ast.arg) -> list[str]:
    """Return the texts that a parameter may have: those of a ``Literal``, and those that it is compared with."""
    sources: list[ast.AST] = [
        other
        for node in code.each(function, ast.Compare)
        if ast.unparse(node.left) in (parameter.arg, f"self.{parameter.arg}")
        for other in node.comparators
    ]
    if parameter.annotation is not None and "Literal" in ast.unparse(parameter.annotation):
        sources.insert(0, parameter.annotation)
    constants = (node for source in sources for node in code.each(source, ast.Constant))
    return list(dict.fromkeys(node.value for node in constants if isinstance(node.value, str)))


# the repository's own calls and defaults


def _sources(repository: Path) -> Iterator[str]:
    for path in files.walk(repository):
        skipped = SKIPPED & set(path.relative_to(repository).parts)
        if path.suffix == ".py" and not skipped and path.stat().st_size <= MAX_BYTES:
            yield path.read_text("utf-8", "replace")


def _callers(repository: Path, target: code.Definition) -> list[str]:
    """Return the lines of the repository that call a function, each with those above it, as an annotator reads them."""
    implicit = target.name in ("forward", "__call__", "__init__", "step")
    name = target.class_name.rpartition(".")[2] if implicit and target.class_name else target.name
    shown_calls: list[str] = []
    for path in files.walk(repository):
        skipped = SKIPPED & set(path.relative_to(repository).parts)
        if path.suffix != ".py" or skipped or path.stat().st_size > MAX_BYTES:
            continue
        text = path.read_text("utf-8", "replace")
        for call in _calls_of(text, name) if f"{name}(" in text else ():
            first, last = max(0, call.lineno - 1 - ABOVE), call.end_lineno or call.lineno
            if len(shown_calls) < MOST_CALLERS:
                shown = textwrap.dedent("\n".join(text.splitlines()[first:last][: 3 * ABOVE])).splitlines()
                place = f"{path.relative_to(repository).as_posix()}, line {call.lineno}:"
                shown_calls += [place, *(f"    {line[:160]}".rstrip() for line in shown)]
    return shown_calls


def _calls_of(text: str, name: str) -> list[ast.Call]:
    try:
        calls = code.each(code.parse(text), ast.Call)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [call for call in calls if ast.unparse(call.func).rpartition(".")[2] == name]


def _defaults(sources: Iterable[str]) -> dict[str, Any]:
    """Return the plain defaults of options of the command line by name; the first counts."""
    defaults: dict[str, Any] = {}
    for text in sources:
        for name, value in _ARGUMENT.findall(text):
            try:
                defaults.setdefault(name.replace("-", "_"), ast.literal_eval(value))
            except (ValueError, SyntaxError):
                continue
    return defaults


def _calls(sources: Iterable[str], name: str) -> list[str]:
    """Return the arguments of the calls of a name that are plain values, or local names of such, each once."""
    written = []
    for text in sources:
        if f"{name}(" not in text:
            continue
        try:
            tree = code.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        scopes: list[ast.Module | ast.FunctionDef] = [*code.each(tree, ast.FunctionDef), tree]
        for scope in scopes:
            assigned = {
                statement.targets[0].id: statement.value
                for statement in scope.body
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
            }
            called = (
                node
                for node in code.each(scope, ast.Call)
                if ast.unparse(node.func).rpartition(".")[2] == name
            )
            written += [text for node in called if (text := _written(node, assigned))]
    return list(dict.fromkeys(written))


def _written(call: ast.Call, assigned: Mapping[str, ast.expr]) -> str:
    """Return the arguments of a call as text that stands alone; "" where it cannot."""

    class ParameterValues(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return assigned.get(node.id, node)

    alone = ParameterValues().visit(
        ast.Call(ast.Name("f"), copy.deepcopy(call.args), copy.deepcopy(call.keywords))
    )
    names = {node.id for node in code.each(alone, ast.Name)}
    text = ast.unparse(alone)[2:-1]
    return "" if names - KNOWN_NAMES or "*" in text or len(text) > LONGEST else text

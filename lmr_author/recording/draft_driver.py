"""Draft the script that drives a function: a page of Python for the annotator to read, correct and run.

Calls of the repository that can be written out are taken over; other values are those of :mod:`.draft_values`. Nothing
is run here.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import yaml

from lmr_author import code, files
from lmr_author.masking.context import lineage
from lmr_author.probe.drivers import ways
from lmr_author.recording.draft_values import UNKNOWN, Values, sizes

MOST_OPTIONS, MOST_WRITTEN = 10, 4
MAX_BYTES = 300_000
"""Larger files of the repository are data."""
LONGEST = 300
"""Characters of a call that is taken over from the repository."""
KNOWN_NAMES = frozenset(
    {"torch", "np", "numpy", "math", "range", "list", "dict", "set", "tuple", "len", "str"}
)
"""Names that a call may use to be taken over."""
LIBRARY_BASES = re.compile(
    r"(torch|nn|optim|abc|typing)\..*|Module|Optimizer|object|ABC|Generic.*|Protocol|Dataset"
)
"""Base classes outside of the repository whose constructors ask for nothing."""
SKIPPED = frozenset({"unit_test", ".git", "node_modules", "site-packages"})


@dataclass(frozen=True)
class Drafted:
    """A drafted script.

    Attributes:
        target: its function.
        calls: number of calls that it makes.
        unknown: parameters and attributes that are left to the annotator.
    """

    text: str
    target: str
    calls: int
    unknown: tuple[str, ...]


def draft_driver(repository: Path, module: code.Module, target: code.Definition, command: str) -> Drafted:
    """Draft the driver of a function.

    Args:
        repository: its tests, callers and configs are read.
        module, target: the function, not masked.
        command: runs the script under the recorder.
    """
    # What lies in a function can only be reached by calling that.
    outer = target.qualname.removesuffix(target.function_name) + target.function_name.partition(".")[0]
    definition = next(item for item in module.definitions if item.qualname == outer)
    draft = _Draft(repository, module, definition)
    draft.prepare()
    given = draft.given(code.parameters(definition.function.args)[draft.receivers :])
    written = draft.written_calls()
    if written and not definition.class_name:
        # The repository knows better than any guess, and each option is tried with its first call.
        draft.unknown, body = [], ["# calls of the repository itself"]
        calls = [*written, *draft.with_options(written[0])]
    else:
        body, calls = draft.inputs(given), [*draft.calls(given), *written]
    text = "\n".join([*draft.setup, "", *body, *calls])
    head = _head(module, repository, definition, command, text)
    script = re.sub(r"\n{4,}", "\n\n\n", "\n".join([*head, text, ""]))
    return Drafted(script, f"{module.name}::{target.qualname}", len(calls), tuple(draft.unknown))


class _Draft:
    """The parts of a script.

    Attributes:
        setup: lines that build the object of a method.
        caller: the function, as it is called.
        unknown: names without a value.
    """

    def __init__(self, repository: Path, module: code.Module, definition: code.Definition) -> None:
        self.repository, self.module, self.definition = repository, module, definition
        self.function = definition.function
        self.sources = list(_sources(repository, ".py"))
        uses_torch = any("import torch" in text for _, text in self.sources)
        settings = read_settings(repository, self.sources)
        self.valued: Callable[[code.FunctionNode], Values] = lambda function: Values(
            module, function, settings, uses_torch
        )
        self.classes = lineage(repository, module, definition) if definition.class_name else []
        self.values = self.valued(self.function)
        self.decorators = {ast.unparse(item).rpartition(".")[2] for item in self.function.decorator_list}
        self.receivers = int(bool(definition.class_name) and "staticmethod" not in self.decorators)
        self.caller, self.construction = definition.qualname, ""
        self.constructor: ast.FunctionDef | None = None
        self.setup: list[str] = []
        self.unknown: list[str] = []

    def prepare(self) -> None:
        """Build the object of a method."""
        definition = self.definition
        if not definition.class_name or self.decorators & {"staticmethod", "classmethod"}:
            return
        if definition.name == "__init__":
            self.caller = definition.class_name
            return
        owner = definition.class_name.rpartition(".")[2]
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", owner).lower().strip("_").rpartition("_")[2]
        self.caller = name if definition.name in ("forward", "__call__") else f"{name}.{definition.name}"
        self.setup = self._construct(definition.class_name, name)
        if self._is("Optimizer"):
            self.setup.insert(0, f"parameters = {self.values.of('params')}")

    def _is(self, base: str) -> bool:
        return any(
            ast.unparse(item).rpartition(".")[2] == base for node in self.classes for item in node.bases
        )

    def _construct(self, owner: str, name: str) -> list[str]:
        """Return lines that build the object: by its constructor, or without it where that leaves less to know."""
        own = {node.name for node in self.classes}
        bases = [ast.unparse(base) for node in self.classes for base in node.bases]
        known = [base.rpartition(".")[2] in own or LIBRARY_BASES.fullmatch(base) for base in bases]
        items = [item for node in self.classes for item in node.body if isinstance(item, ast.FunctionDef)]
        self.constructor = next((item for item in items if item.name == "__init__"), None)
        given: dict[str, str] = {}
        if self.constructor is not None:
            values = self.valued(self.constructor)
            for item, default in code.parameters(self.constructor.args)[1:]:
                if default is None:
                    given[item.arg] = values.of(item.arg, _annotation(item))
            if self._is("Optimizer"):
                given = {key: "parameters" if key == "params" else value for key, value in given.items()}
        unknown = [key for key, value in given.items() if UNKNOWN in value]
        written = [text for _, text in _calls(self.sources, owner)] if unknown else []
        if not all(known) or (unknown and not written):
            attributes = list(self._attributes(name))
            if not all(known) or len(self.unknown) < len(unknown):
                start = f"{name} = object.__new__({owner})  # its constructor needs more than is known here"
                return [start, *attributes]
        self.unknown = [] if written else unknown
        arguments = ", ".join(f"{key}={value}" for key, value in given.items())
        self.construction = written[0] if written else f"{owner}({arguments})"
        return [f"{name} = {self.construction}{'  # TODO: ...' if self.unknown else ''}"]

    def _attributes(self, name: str) -> Iterator[str]:
        """Yield lines that set the attributes that the method reads."""
        if self._is("Module"):
            yield f"torch.nn.Module.__init__({name})"
        methods = {
            item.name for node in self.classes for item in node.body if isinstance(item, code.DefinitionNode)
        }
        receiver = self.function.args.args[0].arg
        for key in self.values.uses:
            attribute = key.removeprefix(f"{receiver}.")
            if attribute != key and "." not in attribute and attribute not in methods:
                yield from self._line(f"{name}.{attribute} = ", attribute, self.values.of(key), "")

    def _line(self, start: str, name: str, value: str, end: str, about: str = "") -> Iterator[str]:
        """Yield a line with a value; one that is not known is left to the annotator."""
        if UNKNOWN in value:
            self.unknown.append(name)
            yield f"{start}{value}{end}  # TODO{f': {about}' if about else ''}"
        else:
            yield f"{start}{value}{end}"

    def given(self, pairs: list[tuple[ast.arg, ast.expr | None]]) -> list[str]:
        """Return a line for each parameter without a default."""
        lines: list[str] = []
        for item, default in pairs:
            if default is None:
                about = _annotation(item)
                lines += self._line(
                    f'        "{item.arg}": ', item.arg, self.values.of(item.arg, about), ",", about
                )
        return lines

    def inputs(self, given: list[str]) -> list[str]:
        """Return the function that makes inputs."""
        gradients = [
            "    for parameter in parameters:",
            "        parameter.grad = torch.randn_like(parameter)",
        ]
        lines: list[str] = gradients if self._is("Optimizer") else []
        if not given and not lines:
            return []
        sized = "batch=batch, " if re.search(r"\bbatch\b", "\n".join(given)) else ""
        what = "Fresh gradients, and the inputs of one call." if lines else "Fresh inputs of one call."
        values = ["    values = {", *given, "    }", "    return {**values, **changes}"]
        return [
            "",
            f"def inputs({sized}**changes):",
            f'    """{what} `changes` replace some of them or add others."""',
            *lines,
            *(values if given else ["    return changes"]),
            "",
            "",
        ]

    def calls(self, given: list[str]) -> Iterator[str]:
        """Yield the calls: with fresh inputs, another size, and each option."""
        makes = bool(given) or self._is("Optimizer")

        def call(changes: str = "", caller: str = self.caller) -> str:
            arguments = f"**inputs({changes})" if makes else changes
            text = caller if self.decorators & {"property", "cached_property"} else f"{caller}({arguments})"
            if isinstance(self.function, ast.AsyncFunctionDef):
                return f"asyncio.run({text})"
            return f"list({text})" if code.is_generator(self.function) else text

        yield call()
        if re.search(r"\bbatch\b", "\n".join(given)):
            yield call("batch=2")
        elif makes:
            yield call()
        for name, value in list(self._options(self.function, self.values))[:MOST_OPTIONS]:
            yield call(f"{name}={value}")
        if not self.construction or self._is("Optimizer") or not self.setup:
            return
        constructor = self.constructor
        read = {key.rpartition(".")[2] for key in self.values.uses if key.startswith("self.")}
        values = self.valued(constructor) if constructor is not None else self.values
        for name, value in self._options(constructor, values) if constructor is not None else ():
            if name in read and f"{name}=" not in self.construction:
                separator = "" if self.construction.endswith("()") else ", "
                other = f"{self.construction[:-1]}{separator}{name}={value})"
                yield call(caller=other + self.caller[len(self.setup[-1].partition(" = ")[0]) :])
        if self._is("Module") and re.search(r"drop|training", ast.unparse(self.function)):
            yield f"{self.setup[-1].partition(' = ')[0]}.eval()"
            yield call()

    def with_options(self, call: str) -> Iterator[str]:
        """Yield a call of the repository with each option that it does not name."""
        positional = len(ast.parse(call, mode="eval").body.args)  # type: ignore[attr-defined]
        free = {item.arg for item, _ in code.parameters(self.function.args)[positional:]}
        for name, value in self._options(self.function, self.values):
            if name in free and f"{name}=" not in call:
                yield f"{call[:-1]}, {name}={value})"

    def _options(self, function: code.FunctionNode, values: Values) -> Iterator[tuple[str, str]]:
        """Yield parameters that have a default, each with another value."""
        texts = _options_of(function)
        for item, default in code.parameters(function.args):
            if default is None or item.arg in ("verbose", "debug", "device", "dtype"):
                continue
            plain = default.value if isinstance(default, ast.Constant) else ...
            others = [text for text in texts.get(item.arg, ()) if isinstance(text, str) and text != plain]
            if others:
                yield from ((item.arg, repr(text)) for text in others)
            elif isinstance(plain, bool):
                yield item.arg, repr(not plain)
            elif isinstance(plain, int | float):
                known = values.number(item.arg)
                if not re.match("[a-z]|2 ", known):  # a size has to fit others
                    yield item.arg, repr(plain * 2) if plain > 0 and plain != 1 else known or "2"
            elif plain is None:
                value = values.of(item.arg, _annotation(item))
                if UNKNOWN not in value and value[0] not in '["':  # a text or list has to fit others
                    yield item.arg, value

    def written_calls(self) -> list[str]:
        """Return calls of a function in the repository, its tests among them, that can be written out."""
        name = self.definition.name
        if self.definition.class_name and (
            not self.construction or name.startswith("__") or name == "forward" or self._is("Optimizer")
        ):
            return []
        found = [text.partition("(")[2] for _, text in _calls(self.sources, name)]
        return [f"{self.caller}({text}" for text in dict.fromkeys(found)][:MOST_WRITTEN]


def _annotation(item: ast.arg) -> str:
    return ast.unparse(item.annotation).strip("'\"") if item.annotation is not None else ""


def _head(
    module: code.Module, repository: Path, definition: code.Definition, command: str, text: str
) -> list[str]:
    """Return docstring, imports, seeds and sizes of a script with this text."""
    way = ways(str(repository.resolve()), module.name)[0]
    relative = any(isinstance(node, ast.ImportFrom) and node.level for node in module.tree.body)
    name = (
        ".".join(module.name.removesuffix(".py").split("/"))
        if relative and "." not in way.module
        else way.module
    )
    folder = Path(way.path[0]).relative_to(repository.resolve()).as_posix()
    away = name == way.module and folder not in (".", "src")
    about = (
        f"Drives {definition.qualname} of {module.name}. Correct shapes and values where they are not those of the "
        "paper's code, then record the calls:"
    )
    used = sizes(text)
    lines = ['"""' + textwrap.fill(about, 100), "", f"    {command}", '"""', ""]
    modules = {
        "torch": "torch",
        "numpy": "numpy",
        "types": "types",
        "asyncio": "asyncio",
        "np": "numpy as np",
    }
    seeded = "random" in module.text and "import random" in module.text
    imports = [item for key, item in modules.items() if re.search(rf"\b{key}\.", text)]
    imports += ["numpy"] * ("rng." in text and "numpy" not in imports)
    uses_global = re.search(r"\b(np|numpy)\.random\.", module.text)
    imports += ["numpy"] * (bool(uses_global) and "numpy" not in imports)
    imports += ["torch"] * ("import torch" in module.text and "torch" not in imports)
    standard = sorted(
        [*(item for item in imports if item in ("types", "asyncio")), *["random"] * seeded, *["sys"] * away]
    )
    lines += [f"import {item}" for item in standard]
    lines += ["", *(f"import {item}" for item in sorted(set(imports) - set(standard)))]
    lines += [
        "",
        *([f'sys.path.insert(0, "{folder}")  # where the repository looks for its modules'] if away else []),
    ]
    root = (definition.class_name or definition.qualname).partition(".")[0]
    lines += [f"from {name} import {root}{'  # noqa: E402' if away else ''}", ""]
    lines += ["random.seed(0)"] * seeded
    lines += ["torch.manual_seed(0)"] * ("torch" in imports)
    lines += ["numpy.random.seed(0)"] * bool(uses_global)
    lines += ["rng = numpy.random.default_rng(0)"] * ("rng." in text)
    if used:
        lines += [f"{', '.join(used)} = {', '.join(map(str, used.values()))}"]
    return [line for number, line in enumerate(lines) if line or lines[number - 1]]


# what the repository says


def _sources(repository: Path, *endings: str) -> Iterator[tuple[str, str]]:
    for path in files.walk(repository):
        relative = path.relative_to(repository)
        if path.suffix in endings and not SKIPPED & set(relative.parts) and path.stat().st_size <= MAX_BYTES:
            yield relative.as_posix(), path.read_text("utf-8", "replace")


def read_settings(repository: Path, sources: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return plain defaults by name: of YAML and JSON files, and of ``add_argument``; the first counts."""
    found: dict[str, Any] = {}

    def collect(data: Any) -> None:
        for key, value in data.items() if isinstance(data, dict) else ():
            if isinstance(value, str | int | float):
                found.setdefault(str(key), value)
            collect(value)

    for path, text in _sources(repository, ".yaml", ".yml", ".json"):
        try:
            collect(json.loads(text) if path.endswith(".json") else yaml.safe_load(text))
        except (ValueError, yaml.YAMLError, RecursionError):
            continue
    pattern = r"""add_argument\(\s*['"]--?([\w-]+)['"][^()]*?default\s*=\s*([-\d.e]+|'[^'\n]*'|"[^"\n]*")"""
    for _, text in sources:
        for name, value in re.findall(pattern, text):
            try:
                found.setdefault(name.replace("-", "_"), ast.literal_eval(value))
            except (ValueError, SyntaxError):
                continue
    return found


def _calls(sources: Iterable[tuple[str, str]], name: str) -> list[tuple[str, str]]:
    """Return (file, call) of calls of a name whose arguments are plain values, or local names of such."""
    last = name.rpartition(".")[2]
    found = []
    for path, text in sources:
        if f"{last}(" not in text:
            continue
        try:
            tree = code.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        scopes: list[ast.Module | ast.FunctionDef] = [tree, *code.each(tree, ast.FunctionDef)]
        for scope in scopes:
            assigned: dict[str, ast.expr] = {}
            for statement in scope.body:
                inside = () if isinstance(statement, code.DefinitionNode) else code.each(statement, ast.Call)
                named = (node for node in inside if ast.unparse(node.func).rpartition(".")[2] == last)
                texts = (_written(node, assigned) for node in named)
                found += [(path, f"{name}({text})") for text in texts if text]
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    assigned[statement.targets[0].id] = statement.value
    return found


def _written(call: ast.Call, assigned: Mapping[str, ast.expr]) -> str:
    """Return the arguments of a call as text that stands alone; "" where it cannot."""

    class Names(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return assigned.get(node.id, node)

    texts = []
    for argument in (*call.args, *call.keywords):
        value = argument.value if isinstance(argument, ast.keyword) else argument
        value = Names().visit(ast.parse(ast.unparse(value), mode="eval").body)
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        if names - KNOWN_NAMES or isinstance(value, ast.Starred):
            return ""
        texts.append(
            f"{argument.arg}={ast.unparse(value)}"
            if isinstance(argument, ast.keyword)
            else ast.unparse(value)
        )
    text = ", ".join(texts)
    return text if len(text) <= LONGEST else ""


def _options_of(function: code.FunctionNode) -> dict[str, list[Any]]:
    """Return the values that the source shows for parameters: plain defaults, and texts that they are compared with."""
    found: dict[str, list[Any]] = {}
    for item, default in code.parameters(function.args):
        sources: list[ast.AST] = [
            other
            for node in ast.walk(function)
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == item.arg
            for other in node.comparators
        ]
        if item.annotation is not None and "Literal" in ast.unparse(item.annotation):
            sources.insert(0, item.annotation)
        constants = [node.value for source in sources for node in ast.walk(source) if _is_text(node)]
        plain = [default.value] if isinstance(default, ast.Constant) else []
        if values := list(dict.fromkeys([*plain, *constants])):
            found[item.arg] = values
    return found


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)

"""Draft the script that drives a function: a page of Python for the annotator to read, correct and run.

Calls of the repository that can be written out are taken over; other values are those of :mod:`.draft_values`. Nothing
is run here.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import yaml

from lmr_author import code, files, resources
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
    r"(torch|nn|optim|abc|typing)\..*|Module|Optimizer|object|ABC|Generic.*|Protocol|Dataset|Ada\w+|SGD|RMSprop"
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
    given = draft.given()
    if draft.written and not definition.class_name:
        # The repository knows better than any guess, and each option is tried with its first call.
        draft.unknown, makes, calls = [], False, [*draft.written, *draft.with_options(draft.written[0])]
    else:
        makes = bool(given) or draft.optimizer
        calls = [*draft.calls(makes, "batch" in _words(given)), *draft.written]
    text = "\n".join([*draft.setup, *given, *calls]) if makes else "\n".join([*draft.setup, *calls])
    words = _words([text])
    seeded = {"random"} if re.search(r"(?m)^\s*(import|from) random\b", module.text) else set()
    used = {name for name in ("torch", "numpy") if re.search(rf"(?m)^\s*(import|from) {name}\b", module.text)}
    place = _place(module, repository)
    page = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, autoescape=False)
    script = page.from_string(resources.template("driver.py.j2")).render(
        target=f"{definition.qualname} of {module.name}",
        command=command,
        standard=sorted({*(words & {"types", "asyncio"}), *seeded, *(["sys"] if place[0] else [])}),
        libraries=sorted(
            {*used, *(words & {"torch", "numpy"}), *({"numpy"} & used if "rng" in words else set())}
        )
        + (["numpy as np"] if "np" in words else []),
        folder=place[0],
        module=place[1],
        name=(definition.class_name or definition.qualname).partition(".")[0],
        sizes=sizes(text),
        setup=draft.setup,
        makes_inputs=makes,
        sized="batch" in _words(given),
        optimizer=draft.optimizer,
        generator="rng" in words,
        given=given,
        calls=calls,
    )
    head, inputs, tail = script.partition("\n\ndef inputs(")
    script = re.sub(r"\n\n\n+", "\n\n", head) + inputs + tail
    number = sum(not call.endswith(".eval()") for call in calls)
    return Drafted(script, f"{module.name}::{target.qualname}", number, tuple(draft.unknown))


def _words(lines: Iterable[str]) -> set[str]:
    return set(re.findall(r"\b[a-z]\w*", "\n".join(lines)))


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
        setup: lines that build the object of a method.
        written: calls of the repository, its tests among them, that can be written out.
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
        self.caller, self.construction = definition.qualname, ""
        self.optimizer = any(map(self._is, ("Optimizer", "Adam", "AdamW", "SGD", "Adagrad", "RMSprop")))
        self.constructor: ast.FunctionDef | None = None
        self.setup: list[str] = []
        self.unknown: list[str] = []
        if definition.name == "__init__":
            self.caller = definition.class_name
        elif definition.class_name and not self.decorators & {"staticmethod", "classmethod"}:
            owner = definition.class_name.rpartition(".")[2]
            name = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", owner).lower().strip("_").rpartition("_")[2]
            self.caller = name if definition.name in ("forward", "__call__") else f"{name}.{definition.name}"
            parameters = [f"parameters = {self.values.of('params')}"] if self.optimizer else []
            self.setup = [*parameters, *self._construct(definition.class_name, name)]
        self.written: list[str] = []
        called_by_name = (
            self.construction and definition.name not in ("forward", "__call__") and not self.optimizer
        )
        if not definition.class_name or called_by_name:
            found = [text.partition("(")[2] for text in _calls(self.sources, definition.name)]
            self.written = [self._used_up(f"{self.caller}({text}") for text in dict.fromkeys(found)][
                :MOST_WRITTEN
            ]

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
            if self.optimizer:
                given = {key: "parameters" if key == "params" else value for key, value in given.items()}
        unknown = [key for key, value in given.items() if UNKNOWN in value]
        written = _calls(self.sources, owner) if unknown else []
        if not all(known) or (unknown and not written):
            attributes = list(self._attributes(name))
            if not all(known) or len(self.unknown) < len(unknown):
                start = f"{name} = object.__new__({owner})  # its constructor needs more than is known here"
                return [start, *attributes]
        self.unknown = [] if written else unknown
        arguments = ", ".join(f"{key}={value}" for key, value in given.items())
        self.construction = written[0] if written else f"{owner}({arguments})"
        return [f"{name} = {self.construction}{'  # TODO' if self.unknown else ''}"]

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

    def given(self) -> list[str]:
        """Return a line for each parameter without a default."""
        receivers = int(bool(self.definition.class_name) and "staticmethod" not in self.decorators)
        lines: list[str] = []
        for item, default in code.parameters(self.function.args)[receivers:]:
            if default is None:
                value = self.values.of(item.arg, _annotation(item))
                lines += self._line(f'"{item.arg}": ', item.arg, value, ",", _annotation(item))
        return lines

    def _used_up(self, call: str) -> str:
        """Return a call that runs to its end, as that of a generator or coroutine does not by itself."""
        if isinstance(self.function, ast.AsyncFunctionDef):
            return f"asyncio.run({call})"
        return f"list({call})" if code.is_generator(self.function) else call

    def calls(self, makes: bool, sized: bool) -> Iterator[str]:
        """Yield the calls: with fresh inputs, another size, and each option.

        Args:
            makes: there are inputs; ``sized``: of a size that can be chosen.
        """

        def call(changes: str = "", caller: str = self.caller) -> str:
            arguments = f"**inputs({changes})" if makes else changes
            is_property = self.decorators & {"property", "cached_property"}
            return self._used_up(caller if is_property else f"{caller}({arguments})")

        yield call()
        if makes:
            yield call("batch=2" if sized else "")
        for name, value in list(self._options(self.function, self.values))[:MOST_OPTIONS]:
            yield call(f"{name}={value}")
        if not self.construction or self.optimizer:
            return
        variable = self.setup[-1].partition(" = ")[0]
        for name, value in self._constructor_options():
            separator = "" if self.construction.endswith("()") else ", "
            other = f"{self.construction[:-1]}{separator}{name}={value})"
            yield call(caller=other + self.caller.removeprefix(variable))
        if self._is("Module") and re.search(r"drop|training", ast.unparse(self.function)):
            yield f"{variable}.eval()"
            yield call()

    def _constructor_options(self) -> Iterator[tuple[str, str]]:
        """Yield options of the constructor that the method reads, as in `if self.mode == "one"`."""
        if self.constructor is None:
            return
        options = list(self._options(self.constructor, self.valued(self.constructor)))
        defaults = {item.arg: default for item, default in code.parameters(self.constructor.args) if default}
        for node in code.each(self.function, ast.Compare):
            name = ast.unparse(node.left).removeprefix("self.")
            texts = [ast.unparse(item) for item in node.comparators if isinstance(item, ast.Constant)]
            options += [
                (name, text) for text in texts if name in defaults and text != ast.unparse(defaults[name])
            ]
        for name, value in dict.fromkeys(options):
            if f"self.{name}" in self.values.uses and f"{name}=" not in self.construction:
                yield name, value

    def with_options(self, call: str) -> Iterator[str]:
        """Yield a call of the repository with each option that it does not name."""
        plain = ast.parse(call, mode="eval").body
        given = len(plain.args) if isinstance(plain, ast.Call) and not call.startswith("list(") else 0
        free = {item.arg for item, _ in code.parameters(self.function.args)[given:]}
        for name, value in self._options(self.function, self.values):
            if name in free and f"{name}=" not in call and given:
                yield f"{call[:-1]}, {name}={value})"

    def _options(self, function: code.FunctionNode, values: Values) -> Iterator[tuple[str, str]]:
        """Yield parameters that have a default, each with another value."""
        for item, default in code.parameters(function.args):
            if default is None or item.arg in ("verbose", "debug", "device", "dtype"):
                continue
            plain = default.value if isinstance(default, ast.Constant) else ...
            others = [text for text in _texts_for(function, item) if text != plain]
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


def _annotation(item: ast.arg) -> str:
    return ast.unparse(item.annotation).strip("'\"") if item.annotation is not None else ""


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


def _calls(sources: Iterable[tuple[str, str]], name: str) -> list[str]:
    """Return the calls of a name whose arguments are plain values, or local names of such."""
    last = name.rpartition(".")[2]
    found = []
    for _, text in sources:
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
                found += [f"{name}({text})" for text in texts if text]
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    assigned[statement.targets[0].id] = statement.value
    return found


def _written(call: ast.Call, assigned: Mapping[str, ast.expr]) -> str:
    """Return the arguments of a call as text that stands alone; "" where it cannot."""

    class Names(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return assigned.get(node.id, node)

    def resolved(node: ast.expr) -> ast.expr:
        return Names().visit(ast.parse(ast.unparse(node), mode="eval").body)  # type: ignore[no-any-return]

    arguments = [resolved(node) for node in call.args]
    keywords = [ast.keyword(word.arg, resolved(word.value)) for word in call.keywords]
    copy = ast.Call(ast.Name("f"), arguments, keywords)
    names = {node.id for node in ast.walk(copy) if isinstance(node, ast.Name)} - {"f"}
    text = ast.unparse(copy)[2:-1]
    return "" if names - KNOWN_NAMES or "*" in text or len(text) > LONGEST else text


def _texts_for(function: code.FunctionNode, item: ast.arg) -> list[str]:
    """Return the texts that a parameter may have: those of a ``Literal``, and those that it is compared with."""
    sources: list[ast.AST] = [
        other
        for node in ast.walk(function)
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == item.arg
        for other in node.comparators
    ]
    if item.annotation is not None and "Literal" in ast.unparse(item.annotation):
        sources.insert(0, item.annotation)
    constants = (node for source in sources for node in code.each(source, ast.Constant))
    return list(dict.fromkeys(node.value for node in constants if isinstance(node.value, str)))

"""Draft the script that drives a function: a page of Python for the annotator to complete and run.

It imports the function and calls it. Arguments are placeholders, except where an annotation shows a plain value. Below
that come the lines of the repository that call the function, as comments. Nothing is run here.
"""

from __future__ import annotations

import ast
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from lmr_author.authoring.masking.context import lineage
from lmr_author.authoring.masking.docstrings import DocumentedParameter, read_docstring
from lmr_author.authoring.recording.job import implementation_of
from lmr_author.core import code, files, resources
from lmr_author.core.code.tree import last_name
from lmr_author.core.task import Task
from lmr_author.runtime.probe.drivers import ways
from lmr_author.runtime.replay import staging

UNKNOWN = "..."
PLAIN_VALUES = {
    "int": "2",
    "float": "0.5",
    "bool": "True",
    "str": "'a text'",
    "List[int]": "[3, 1, 2]",
    "List[float]": "[0.5, 2.0, 1.0]",
    "List[str]": "['one', 'two', 'three']",
}
MOST_CALLS = 11
MAX_BYTES = 300_000
"""Larger files of the repository are data."""
MOST_CALLERS, ABOVE = 12, 4
"""Lines of the repository's callers that are shown, about, and of those above each call."""
SKIPPED = frozenset({"unit_test", ".git", "node_modules", "site-packages"})
IMPLICIT = ("forward", "__call__", "__init__", "step")
"""Methods that nobody calls by their name."""


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


@dataclass
class _Values:
    """Values for parameters, by their annotations; others are placeholders, and noted in ``unknown``."""

    unknown: list[str] = field(default_factory=list)

    def of(self, name: str, annotation: str = "") -> str:
        plain = re.sub(r"^(typing\.)?[Ll]ist\b", "List", annotation)
        value = PLAIN_VALUES.get(plain, UNKNOWN)
        if value == UNKNOWN:
            self.unknown.append(name)
        return value


def draft(task: Task, target: str | None, here: Path, path: Path, named: Sequence[str] = ()) -> Drafted:
    """Draft a driver of a masked function from its golden and the repository.

    Args:
        path: the script that it will be.
        named: options that name the task, for the command in the script.

    Raises:
        TargetError: the target is not masked in this task.
    """
    info = task.load()
    implementation = implementation_of(task, info, target, here)
    golden = code.Module.parse(staging.read_golden(task, implementation), implementation.goal_file)
    definition = code.find(golden, implementation.target)
    command = shlex.join(
        ["lmr-author", "record", str(implementation.target), *named, "--", "python", str(path)]
    )
    return draft_driver(task.repository(info), golden, definition, command)


def draft_driver(repository: Path, module: code.Module, target: code.Definition, command: str) -> Drafted:
    """Draft the driver of a function.

    Args:
        repository: its tests and callers are read.
        module, target: the function, not masked.
        command: runs the script under the recorder.
    """
    # A function inside another can only be reached by calling the outer one.
    outer = target.qualname.removesuffix(target.function_name) + target.function_name.partition(".")[0]
    definition = next(candidate for candidate in module.definitions if candidate.qualname == outer)
    values = _Values()
    caller, setup = _receiver(repository, module, definition, values)
    given = _inputs(definition, values)
    calls = _calls(definition, caller, bool(given))
    globals_ = {name: values.of(name) for name in code.set_at_run_time(module.tree, definition.function)}

    imported = set(re.findall(r"(?m)^\s*(?:import|from) (torch|numpy|random)\b", module.text))
    standard = imported & {"random"}
    if isinstance(definition.function, ast.AsyncFunctionDef):
        standard.add("asyncio")
    folder, name = _place(module, repository)
    page = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, autoescape=False)
    script = page.from_string(resources.template("driver.py.j2")).render(
        target=f"{definition.qualname} of {module.name}",
        command=command,
        standard=sorted(standard | {"sys"} if folder else standard),
        libraries=sorted(imported - {"random"}),
        folder=folder,
        module=name,
        name=(definition.class_name or definition.qualname).partition(".")[0],
        globals=globals_,
        setup=setup,
        given=given,
        calls=calls,
        callers=_callers(repository, target),
    )
    head, inputs, tail = script.partition("\n\ndef inputs(")
    script = re.sub(r"\n\n\n+", "\n\n", head) + inputs + tail
    return Drafted(script, f"{module.name}::{target.qualname}", len(calls), tuple(values.unknown))


def _place(module: code.Module, repository: Path) -> tuple[str, str]:
    """Return the folder that has to be on the path for a file, "" for the root, and the name of its module."""
    way = ways(str(repository.resolve()), module.name)[0]
    relative = any(isinstance(node, ast.ImportFrom) and node.level for node in module.tree.body)
    if relative and "." not in way.module:
        return "", module.name.removesuffix(".py").replace("/", ".")
    folder = Path(way.path[0]).relative_to(repository.resolve()).as_posix()
    return "" if folder in (".", "src") else folder, way.module


def _receiver(
    repository: Path, module: code.Module, definition: code.Definition, values: _Values
) -> tuple[str, list[str]]:
    """Return the function as it is called, and the line that builds the object of a method."""
    if definition.name == "__init__":
        return definition.class_name, []
    if not definition.class_name or _decorators(definition) & {"staticmethod", "classmethod"}:
        return definition.qualname, []
    owner = definition.class_name.rpartition(".")[2]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", owner).lower().strip("_")
    variable = words.rpartition("_")[2]
    before = len(values.unknown)
    arguments = []
    for parameter, default in _constructor_parameters(lineage(repository, module, definition)):
        if default is None:
            arguments.append(f"{parameter.arg}={values.of(parameter.arg, _annotation(parameter))}")
    todo = "  # TODO" if len(values.unknown) > before else ""
    setup = [f"{variable} = {definition.class_name}({', '.join(arguments)}){todo}"]
    called_itself = definition.name in ("forward", "__call__")
    return variable if called_itself else f"{variable}.{definition.name}", setup


def _constructor_parameters(classes: Iterable[ast.ClassDef]) -> list[tuple[ast.arg, ast.expr | None]]:
    for owner in classes:
        for member in owner.body:
            if isinstance(member, ast.FunctionDef) and member.name == "__init__":
                return code.parameters(member.args)[1:]
    return []


def _inputs(definition: code.Definition, values: _Values) -> list[str]:
    """Return an item of a dictionary for each parameter without a default, with what its docstring says."""
    function = definition.function
    receives = bool(definition.class_name) and "staticmethod" not in _decorators(definition)
    parameters = code.parameters(function.args)[int(receives) :]
    docs = read_docstring(ast.get_docstring(function))
    lines = []
    for parameter, default in parameters:
        if default is not None:
            continue
        annotation = _annotation(parameter)
        value = values.of(parameter.arg, annotation)
        line = f'"{parameter.arg}": {value},'
        if value == UNKNOWN:
            documented = docs.parameters.get(parameter.arg, DocumentedParameter())
            about = " ".join(f"{annotation or documented.type} {documented.text}".split())
            line += f"  # TODO: {about[:80]}".rstrip(": ")
        lines.append(line)
    return lines


def _calls(definition: code.Definition, caller: str, given: bool) -> list[str]:
    """Return a call, and one for each option. ``given``: there are inputs."""
    function = definition.function
    if _decorators(definition) & {"property", "cached_property"}:
        return [caller]
    calls = []
    for changes in ["", *_options(function)][:MOST_CALLS]:
        calls.append(f"{caller}(**inputs({changes}))" if given else f"{caller}({changes})")
    # Of a generator or coroutine nothing runs until it is used up.
    if isinstance(function, ast.AsyncFunctionDef):
        return [f"asyncio.run({call})" for call in calls]
    if code.is_generator(function):
        return [f"list({call})" for call in calls]
    return calls


def _options(function: code.FunctionNode) -> list[str]:
    """Return flags, words and numbers that have a default, each with another value, as in ``scaled=False``."""
    options = []
    for parameter, default in code.parameters(function.args):
        if not isinstance(default, ast.Constant) or parameter.arg in ("verbose", "debug", "device", "dtype"):
            continue
        usual = default.value
        others: list[object] = [word for word in _words_for(function, parameter) if word != usual]
        if isinstance(usual, bool):
            others = [not usual]
        elif isinstance(usual, float) and usual > 0:
            others = [usual * 2 if usual != 1 else 0.5]
        options += [f"{parameter.arg}={other!r}" for other in others]
    return options


def _words_for(function: code.FunctionNode, parameter: ast.arg) -> list[str]:
    """Return the texts that a parameter may have: those of a ``Literal``, and those that it is compared with."""
    sources: list[ast.AST] = []
    if parameter.annotation is not None and "Literal" in ast.unparse(parameter.annotation):
        sources.append(parameter.annotation)
    for comparison in code.each(function, ast.Compare):
        if ast.unparse(comparison.left) in (parameter.arg, f"self.{parameter.arg}"):
            sources += comparison.comparators
    words = []
    for source in sources:
        words += [node.value for node in code.each(source, ast.Constant) if isinstance(node.value, str)]
    return list(dict.fromkeys(words))


def _annotation(parameter: ast.arg) -> str:
    return ast.unparse(parameter.annotation).strip("'\"") if parameter.annotation is not None else ""


def _decorators(definition: code.Definition) -> set[str]:
    return {ast.unparse(node).rpartition(".")[2] for node in definition.function.decorator_list}


# the repository's own calls


def _sources(repository: Path) -> Iterator[tuple[str, str]]:
    """Yield path and text of the repository's Python files, its tests among them."""
    for path in files.walk(repository):
        relative = path.relative_to(repository)
        if path.suffix != ".py" or SKIPPED & set(relative.parts) or path.stat().st_size > MAX_BYTES:
            continue
        yield relative.as_posix(), path.read_text("utf-8", "replace")


def _callers(repository: Path, target: code.Definition) -> list[str]:
    """Return the lines of the repository that call a function, each with those above it, as an annotator reads them."""
    by_class = target.name in IMPLICIT and target.class_name
    name = target.class_name.rpartition(".")[2] if by_class else target.name
    shown: list[str] = []
    for path, text in _sources(repository):
        for call in _calls_of(text, name):
            if len(shown) >= MOST_CALLERS:
                return shown
            first, last = max(0, call.lineno - 1 - ABOVE), call.end_lineno or call.lineno
            lines = text.splitlines()[first:last][: 3 * ABOVE]
            shown.append(f"{path}, line {call.lineno}:")
            for line in textwrap.dedent("\n".join(lines)).splitlines():
                shown.append(f"    {line[:160]}".rstrip())
    return shown


def _calls_of(text: str, name: str) -> list[ast.Call]:
    if f"{name}(" not in text:
        return []
    try:
        tree = code.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [call for call in code.each(tree, ast.Call) if last_name(call.func) == name]

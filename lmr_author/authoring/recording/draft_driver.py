"""Draft the script that drives a function: a page of Python for the annotator to complete and run.

It imports the function and calls it. Arguments are placeholders, except where an annotation shows a plain value.
Nothing is run here.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from lmr_author.authoring.recording.job import implementation_of
from lmr_author.core import code, files, resources
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


@dataclass(frozen=True)
class DriverDraft:
    """A drafted script, its number of calls, and the parameters and globals that are left to the annotator."""

    text: str
    target: str
    calls: int
    unknown: tuple[str, ...]


def draft(task: Task, target: str | None, here: Path, path: Path, named: Sequence[str] = ()) -> DriverDraft:
    """Draft a driver of a masked function from its golden; ``named`` are options for the command in the script."""
    info = task.load()
    implementation = implementation_of(task, info, target, here)
    golden = code.Module.parse(staging.read_golden(task, implementation), implementation.goal_file)
    definition = code.find(golden, implementation.target)
    command = ["lmr-author", "record", str(implementation.target), *named, "--", "python", str(path)]
    return draft_driver(task.repository(info), golden, definition, shlex.join(command))


def draft_driver(repository: Path, module: code.Module, target: code.Definition, command: str) -> DriverDraft:
    """Draft the driver of a function of a module that is not masked; ``command`` runs it under the recorder."""
    # A function inside another can only be reached by calling the outer one.
    outer = target.qualname.removesuffix(target.function_name) + target.function_name.partition(".")[0]
    definition = next(candidate for candidate in module.definitions if candidate.qualname == outer)
    function = definition.function
    values, unknown = _inputs(function, skipped=int(definition.receiver != ""))
    globals_ = code.set_at_run_time(module.tree, function)
    caller, setup = _caller(definition)
    calls = _calls(function, caller, bool(values))

    imported = set(re.findall(r"(?m)^\s*(?:import|from) (torch|numpy|random)\b", module.text))
    folder, name = _place(module, repository)
    standard = imported & {"random"}
    if folder:
        standard.add("sys")
    if isinstance(function, ast.AsyncFunctionDef):
        standard.add("asyncio")
    page = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, autoescape=False)
    script = page.from_string(resources.template("driver.py.j2")).render(
        target=f"{definition.qualname} of {module.name}",
        command=command,
        standard=sorted(standard),
        libraries=sorted(imported - {"random"}),
        folder=folder,
        module=name,
        name=(definition.class_name or definition.qualname).partition(".")[0],
        globals=globals_,
        setup=setup,
        values=values,
        calls=calls,
    )
    head, inputs, tail = script.partition("\n\ndef inputs(")
    script = re.sub(r"\n\n\n+", "\n\n", head) + inputs + tail
    return DriverDraft(script, f"{module.name}::{target.qualname}", len(calls), (*unknown, *globals_))


def _place(module: code.Module, repository: Path) -> tuple[str, str]:
    """Return the folder that has to be on the path for a file, "" for the root, and the name of its module."""
    way = ways(str(repository.resolve()), module.name)[0]
    relative = any(isinstance(node, ast.ImportFrom) and node.level for node in module.tree.body)
    if relative and "." not in way.module:
        return "", module.name.removesuffix(".py").replace("/", ".")
    folder = Path(way.path[0]).relative_to(repository.resolve()).as_posix()
    if folder in (".", "src"):
        return "", way.module
    from_root = module.name.removesuffix(".py").replace("/", ".")
    return ("", from_root) if _is_imported(from_root, repository) else (folder, way.module)


def _is_imported(name: str, repository: Path) -> bool:
    """Tell whether a file of the repository imports a module by this name."""
    statement = re.compile(rf"^\s*(?:from|import)\s+{re.escape(name)}\b", re.MULTILINE)
    texts = (files.read_text_or_empty(path) for path in files.walk(repository) if path.suffix == ".py")
    return any(map(statement.search, texts))


def _caller(definition: code.Definition) -> tuple[str, str]:
    if definition.name == "__init__":
        return definition.class_name, ""
    if not definition.class_name or _decorators(definition.function) & {"staticmethod", "classmethod"}:
        return definition.qualname, ""
    setup = f"instance = {definition.class_name}({UNKNOWN})  # TODO"
    called_itself = definition.name in ("forward", "__call__")
    return "instance" if called_itself else f"instance.{definition.name}", setup


def _inputs(function: code.FunctionNode, skipped: int) -> tuple[list[str], list[str]]:
    """Return the items of a dictionary for the parameters without a default, and those whose value is unknown."""
    parameters = code.parameters(function.args)[skipped:]
    lines, unknown = [], []
    for parameter, default in parameters:
        if default is not None:
            continue
        annotation = ast.unparse(parameter.annotation).strip("'\"") if parameter.annotation else ""
        value = PLAIN_VALUES.get(re.sub(r"^(typing\.)?[Ll]ist\b", "List", annotation), UNKNOWN)
        line = f'"{parameter.arg}": {value},'
        if value == UNKNOWN:
            unknown.append(parameter.arg)
            about = " ".join(annotation.split())
            line += f"  # TODO: {about[:80]}".rstrip(": ")
        lines.append(line)
    return lines, unknown


def _calls(function: code.FunctionNode, caller: str, has_inputs: bool) -> list[str]:
    if _decorators(function) & {"property", "cached_property"}:
        return [caller]
    calls = []
    for changes in ["", *_options(function)][:MOST_CALLS]:
        calls.append(f"{caller}(**inputs({changes}))" if has_inputs else f"{caller}({changes})")
    # Of a generator or coroutine nothing runs until it is used up.
    if isinstance(function, ast.AsyncFunctionDef):
        return [f"asyncio.run({call})" for call in calls]
    if code.is_generator(function):
        return [f"list({call})" for call in calls]
    return calls


def _options(function: code.FunctionNode) -> list[str]:
    """Return flags and numbers that have a default, each with another value, as in ``scaled=False``."""
    options = []
    for parameter, default in code.parameters(function.args):
        usual = default.value if isinstance(default, ast.Constant) else None
        if parameter.arg in ("verbose", "debug"):
            continue
        if isinstance(usual, bool):
            options.append(f"{parameter.arg}={not usual}")
        elif isinstance(usual, float) and usual > 0:
            options.append(f"{parameter.arg}={usual * 2 if usual != 1 else 0.5}")
    return options


def _decorators(function: code.FunctionNode) -> set[str]:
    return {ast.unparse(node).rpartition(".")[2] for node in function.decorator_list}

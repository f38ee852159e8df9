"""``unmask(mask(x)) == x`` for every function of a real file."""

from __future__ import annotations

import sysconfig
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lmr_author.authoring.masking.body import is_masked, mask_source, unmask_source
from lmr_author.core import code
from lmr_author.core.errors import LmrError, SourceError


@dataclass(frozen=True)
class Checked:
    """What one file gave: functions tried (-1 when it is no Python 3), and what did not hold."""

    functions: int
    problems: tuple[str, ...] = ()


def check_file(path: Path) -> Checked:
    """Mask and unmask each function of a file by itself."""
    data = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old files have invalid escapes
        try:
            module = code.Module.parse(data, path.name)
        except SourceError:
            return Checked(-1)
        functions = [item for item in module.definitions if item.kind == "function" and not is_masked(item)]
        problems = [
            f"{path}:{item.line} {item.qualname}: {why}" for item in functions for why in _wrong(module, item)
        ]
    return Checked(len(functions), tuple(problems))


def _wrong(module: code.Module, definition: code.Definition) -> Iterator[str]:
    try:
        masked = code.Module.parse(mask_source(module, [definition]).data, module.name)
        now = [
            item
            for item in masked.definitions
            if (item.qualname, item.line) == (definition.qualname, definition.line)
        ]
        if len(now) != 1:
            yield "is not where it was"
            return
        if now[0].docstring != definition.docstring:
            yield "another docstring"
        if not is_masked(now[0]) or _kind(now[0]) != _kind(definition):
            yield "not masked, or of another kind"
        if code.outside(masked, now) != code.outside(module, [definition]):
            yield "changed outside of the body"
        if unmask_source(module, masked, definition.qualname) != module.data:
            yield "unmask does not give the file back"
    except LmrError as error:
        yield f"{type(error).__name__}: {error.message}"


def _kind(definition: code.Definition) -> tuple[str, bool]:
    node = definition.node
    return type(node).__name__, code.is_generator(node)  # type: ignore[arg-type]


def standard_files() -> list[Path]:
    """Python files of the standard library."""
    folder = Path(sysconfig.get_path("stdlib"))
    return sorted(path for path in folder.rglob("*.py") if "site-packages" not in path.parts)


def installed_files() -> list[Path]:
    """Python files of installed packages."""
    return sorted(Path(sysconfig.get_path("purelib")).rglob("*.py"))

"""``unmask(mask(x)) == x`` for every function of real files: of a sample in CI, of everything by hand.

python -m tests.masking.roundtrip                 the standard library and 1,500 installed files
python -m tests.masking.roundtrip FOLDER…         every Python file below these folders
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lmr_author import code
from lmr_author.errors import LmrError, SourceError
from lmr_author.masking.body import is_masked, mask_source, unmask_source

INSTALLED_FILES = 1500


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


def library_files() -> tuple[list[Path], list[Path]]:
    """Python files of the standard library, and of installed packages."""
    installed = Path(sysconfig.get_path("purelib"))
    standard = Path(sysconfig.get_path("stdlib"))
    return (
        sorted(path for path in standard.rglob("*.py") if "site-packages" not in path.parts),
        sorted(installed.rglob("*.py")),
    )


def _chosen(folders: list[Path]) -> list[Path]:
    if folders:
        return sorted(path for folder in folders for path in folder.rglob("*.py") if path.is_file())
    standard, installed = library_files()
    return standard + random.Random(3).sample(installed, min(INSTALLED_FILES, len(installed)))


def main() -> int:
    """Check the files, print what does not hold and a summary; 1 when anything does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    paths = _chosen(parser.parse_args().folders)
    started = time.monotonic()
    files = functions = problems = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for number, checked in enumerate(pool.map(check_file, paths, chunksize=4), 1):
            files += checked.functions >= 0
            functions += max(checked.functions, 0)
            problems += len(checked.problems)
            print(*checked.problems, sep="\n", end="\n" if checked.problems else "")
            if number % 200 == 0:
                print(f"{number}/{len(paths)} files, {time.monotonic() - started:.0f} s", file=sys.stderr)
    print(
        f"{files} files ({len(paths) - files} not Python 3), {functions} functions, {problems} problems, "
        f"{time.monotonic() - started:.0f} s"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

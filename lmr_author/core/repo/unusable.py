"""Code of a repository that no task can be made of as it stands: notebooks, and files for Python 2."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.texts import counted, printable

_MAX_BYTES = 2 * 1024 * 1024
_PYTHON_2 = re.compile(
    r"^[ \t]*print[ \t]+[\"'\w]|^[ \t]*except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:"
    r"|^(?:import|from)[ \t]+(?:ConfigParser|Queue|StringIO|cPickle|cStringIO|urllib2|urlparse|__builtin__)\b",
    re.M,
)
"""A print statement, an old ``except``, a module that Python 3 renamed; indented imports have another beside them."""


def unusable_code(repository: Path) -> list[str]:
    """Return a sentence each about the notebooks and the files for Python 2, with what to do."""
    notebooks, old = list[str](), list[str]()
    for path in files.walk(repository):
        name = path.relative_to(repository).as_posix()
        if path.suffix == ".ipynb" and ".ipynb_checkpoints" not in name:
            notebooks.append(name)
        elif path.suffix == ".py" and _is_python_2(path):
            old.append(name)
    sentences = []
    if notebooks:
        sentences.append(
            f"{counted(len(notebooks), 'notebook')}, first {_shown(notebooks)}: functions of notebooks are not found; "
            f"`uvx --from nbconvert jupyter-nbconvert --to script {_quoted(notebooks)}` makes a Python file"
        )
    if old:
        sentences.append(
            f"{counted(len(old), 'file')} for Python 2, first {_shown(old)}: a task's code runs in Python 3; "
            f"`uv run --no-project --python 3.11 python -m lib2to3 -w -n {_quoted(old)}` converts it"
        )
    end = "in a clone, whose `git diff` goes into a task with `lmr-author new-task --patch FILE --patch-reason TEXT`"
    return [f"{sentence}, {end}" for sentence in sentences]


def _is_python_2(path: Path) -> bool:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return False
        return _PYTHON_2.search(path.read_bytes().decode("utf-8", "replace")) is not None
    except OSError:
        return False


def _shown(names: list[str]) -> str:
    return printable(names[0], 100)


def _quoted(names: list[str]) -> str:
    return shlex.quote(printable(names[0], 300))

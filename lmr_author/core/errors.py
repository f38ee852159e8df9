"""Errors a user can cause or meet, each with what to do about it.

A *bad task* is never an exception: it is a :class:`~lmr_author.core.task.Finding` or a failed gate.
An exception here means that a command could not do its work: the machine lacks something, the
input is not what it has to be, or the user stopped it. ``lmr_author.cli.boundary`` is the only place
that turns them into an exit code.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_ERROR = 3
EXIT_BUG = 4
EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class Setting:
    """An option of a command, or field of a recipe, that would help.

    Attributes:
        option: as ``--with``; ``--`` stands for the command that is recorded.
        values: values to give it; empty where a person has to choose.
        typed: the whole command for a terminal, where that is more than the option.
    """

    option: str
    values: tuple[str, ...] = ()
    typed: str = ""

    def __str__(self) -> str:
        return self.typed or " ".join([self.option, *map(shlex.quote, self.values)])


@dataclass(frozen=True)
class Hint:
    """What to do: ``{0}``, ``{1}`` in the text stand for settings, the first of which has to change."""

    text: str
    settings: tuple[Setting, ...] = ()

    def __str__(self) -> str:
        return self.in_words(str)

    def in_words(self, name: Callable[[Setting], str]) -> str:
        text = self.text
        for number, setting in enumerate(self.settings):
            text = text.replace(f"{{{number}}}", name(setting))
        return text


class LmrError(Exception):
    """An expected error.

    Args:
        message: what is wrong and where, one line, without a final full stop.
        hint: what the user can do about it; empty only if nothing can be done.
    """

    exit_code = EXIT_ERROR

    def __init__(self, message: str, hint: str | Hint = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = hint if isinstance(hint, Hint) else Hint(hint)

    @property
    def hint(self) -> str:
        return str(self.advice)


@contextmanager
def concerning(option: str) -> Iterator[None]:
    """Name what has to change in an error of the block that does not name it."""
    try:
        yield
    except LmrError as error:
        if not error.advice.settings:
            error.advice = Hint(error.advice.text, (Setting(option),))
        raise


class UsageError(LmrError):
    """The command line itself is wrong: a missing flag, two flags that exclude each other."""

    exit_code = EXIT_USAGE


class NotATaskError(LmrError):
    """No task folder at this place, nor in a folder above it."""


class TargetError(LmrError):
    """A target that does not exist, is ambiguous, or cannot be used as asked."""


class SourceError(LmrError):
    """A source file that cannot be read as Python."""


class SandboxError(LmrError):
    """The sandbox itself failed (no engine, no bubblewrap, image gone): never a wrong answer."""


class UnsafePathError(LmrError):
    """A path leaves the folder it must stay in, or is a link, a pipe or a device."""

    def __init__(self, message: str, hint: str = "", path: Path | None = None) -> None:
        super().__init__(message, hint)
        self.path = path


class SandboxBuildError(SandboxError):
    """The task's environment cannot be built: the fault of its Dockerfile, not of the machine.

    Args:
        step: the instruction that failed, as the engine has it; "" when none was reached.
        line: the Dockerfile's line on which it begins, 0 when unknown.
        said: what the instruction wrote last, and the engine's own message as its last line.
        log: file with all output; "" for none.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        step: str = "",
        line: int = 0,
        said: tuple[str, ...] = (),
        log: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.log = log
        self.step = step
        self.line = line
        self.said = said

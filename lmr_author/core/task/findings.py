"""Findings of ``validate``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from lmr_author.core.task.record import Code, Record, Text


class Severity(StrEnum):
    """Severity of a finding: an ERROR must not ship, a WARNING should not, a NOTE is for information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding(Record):
    """One thing that is wrong with a task.

    Attributes:
        code: the check's code, ``LMR301``.
        severity: how bad it is.
        task: name of the task folder.
        message: the defect, one line.
        hint: how to mend it.
        implementation: index of the implementation, from 1; null when it concerns the whole task.
        path: the file, relative to the task folder, with ``/``; "" for the folder itself.
        pointer: JSON pointer into a JSON file, or ``L12`` / ``L12-L20`` for lines; "" otherwise.
        fixable: true if ``validate --fix`` can repair it.
        files: all files, relative to the task folder, of a finding about several; else empty.
    """

    optional: ClassVar[tuple[str, ...]] = ("files",)

    code: Code
    severity: Severity
    task: str
    message: Text
    hint: str = ""
    implementation: int | None = None
    path: str = ""
    pointer: str = ""
    fixable: bool = False
    files: tuple[str, ...] = ()

"""A vetting on disk: answers files, and ``authoring/vetting.json`` of an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.errors import LmrError, UsageError
from lmr_author.taskdir import TaskDir
from lmr_author.texts import printable
from lmr_author.vetting import evidence
from lmr_author.vetting.questions import QUESTIONS, Answer, read_answer
from lmr_author.workflow.answer_files import read_object
from lmr_author.workflow.vet import VetOptions, Vetting


def read_answers(path: Path) -> dict[str, Answer]:
    """An answers file, YAML or JSON: question → "yes", or {answer, justification}. Raises UsageError."""
    data = read_object(path, "--answers")
    found = {}
    for name, given in data.items():
        answer, why = (
            (given.get("answer"), given.get("justification", ""))
            if isinstance(given, Mapping)
            else (given, "")
        )
        if isinstance(answer, bool):  # YAML reads a bare yes and no as truth values
            answer = "yes" if answer else "no"
        found[str(name)] = read_answer(str(name), answer, why)
    return found


def load(path: Path) -> tuple[dict[str, Answer], str]:
    """The answers and the override of an earlier vetting; none when there is no such file.

    Raises LmrError when it, or an answer in it, is damaged: it is going to be written again from what is read.
    """
    data = files.read_object_to_change(path)
    entries, override = data.get("questions", {}), data.get("licence_override", "")
    hint = "correct the file by hand, or move it away"
    whole = isinstance(entries, dict) and all(isinstance(entry, dict) for entry in entries.values())
    if not whole or not isinstance(override, str):
        raise LmrError(f"{path}: not as its schema says", hint)
    found = {}
    for name in QUESTIONS:
        entry = entries.get(name, {})
        try:
            if entry.get("answer"):
                found[name] = read_answer(name, entry.get("answer"), entry.get("justification", ""))
        except UsageError as error:
            raise LmrError(f"{path}: {error.message}", hint) from error
    return found, override


def refuse_of_another(path: Path, vetting: Vetting) -> None:
    """Raise LmrError when a file's answers are about another paper: they would count for this one."""
    data = files.read_object_to_change(path)
    same = [now for now in ("paper", "repository") if data.get(now) and data[now] == getattr(vetting, now)]
    if data and not same:
        raise LmrError(
            f"{path} has the answers for another paper: {printable(str(data.get('paper')), 100)}",
            "store these elsewhere, with --output FILE, or move that file away",
        )


def save(path: Path, vetting: Vetting) -> None:
    """Write ``vetting.json``, atomically."""
    files.write_json(path, vetting.to_json())


def of_task(task: TaskDir) -> VetOptions:
    """What to vet for a task that exists: its own paper, and its repository's address. Raises LmrError."""
    info, earlier = task.load(), files.read_object_or_empty(task.vetting_path)
    stop = earlier.get("licence_stop")
    return VetOptions(
        str(task.paper_pdf(info)),
        info.repo_url,
        info.repo_url,
        licence=info.license,
        stop=stop if isinstance(stop, str) else "",
        known=_evidence_in(earlier),
    )


def _evidence_in(document: Mapping[str, Any]) -> evidence.Evidence:
    entries = document.get("questions")
    found: evidence.Evidence = {}
    for name in QUESTIONS:
        entry = entries.get(name) if isinstance(entries, dict) else None
        lines = entry.get("evidence") if isinstance(entry, dict) else None
        if isinstance(lines, list):
            found[name] = [line for line in lines if isinstance(line, str)]
    return found

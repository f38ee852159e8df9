"""Two commands on one task: nothing of either is lost, and the second says for whom it waits."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from lmr_author.cli.app import ENV_COMMANDS, VERBS
from lmr_author.core.locks import held
from lmr_author.proof.evaluation.accepting import every_mutant
from lmr_author.release.review.checklist import template
from tests.cli.program import finish, lmr_forked, snapshot, start, wait_for
from tests.pipeline import ADD, HINGE, only_hinge
from tests.support import make_task

GRADE = "logically-correct"
READING = {
    "explain": ("explain", "LMR001"),
    "status": ("status",),
    "suggest": ("suggest",),
    "validate": ("validate",),
    "report": ("report", "--html", "../page.html"),
    "export": ("export", ".", "--to", "agent", "--out", "../../out", "--force"),
    "review": ("review", "--agreement"),
    "judge": ("judge", "--by-hand", "--results"),
    "set": ("set",),
}
"""Commands that write nothing into the task: they never wait."""
WRITING = {
    "mask": ("mask", ADD, "--no-input"),
    "unmask": ("unmask", HINGE),
    "set": ("set", "category=Evaluation Metrics", "instruction=Implement the loss."),
    "record": ("record", HINGE, "--no-input", "--", "python", "run.py"),
    "evaluate": ("evaluate",),
    "challenge": ("challenge", "--answers", ".."),
    "accept": ("accept", "--mutant", "ID", "--reason", "it is equal on every input"),
    "review --decide": ("review", "--decide", "core=pass", "--reviewer", "Ann", "--reason", "it is"),
    "validate": ("validate", "--accept", "LMR201", "--reason", "it has none"),
    "review": ("review", "--reviewer", "Ann", "--answers", "../answers.yaml"),
    "judge": (
        "judge",
        "--by-hand",
        "--candidate",
        "../answer.py",
        "--reviewer",
        "Ann",
        "--grade",
        GRADE,
        "--reason",
        "why",
    ),
    "vet": ("vet", "--offline", "--no-input"),
    "env lock": ("env", "lock", "--timeout", "1"),
}
ELSEWHERE = {"demo", "make", "draft", "new-task", "analyze", "env local", "env build"}
"""Verbs that write into no task that was there before; and one that needs Docker."""


def test_every_verb_is_known_to_write_or_not() -> None:
    verbs = {*VERBS, *(f"env {name}" for name in ENV_COMMANDS)} - {"env"}
    assert verbs == {*READING, *WRITING, *ELSEWHERE} - {"review --decide"}


def test_two_masks_at_once_are_both_in_info_json(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    with held(task.root):  # so that both have begun before one can write
        both = [start("mask", target, "--no-input", cwd=task.root) for target in (HINGE, ADD)]
        for process in both:
            wait_for(lambda process=process: _waits(process.pid))  # type: ignore[misc]
    ended = [finish(process) for process in both]
    assert [one.code for one in ended] == [0, 0], ended
    assert {str(one.target) for one in task.load().implementations} == {HINGE, ADD}


def test_verbs_that_write_wait_and_say_so(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    (tmp_path / "answers.yaml").write_text(yaml.safe_dump(template()))
    (tmp_path / "answer.py").write_text("def hinge(x, margin=1.0):\n    return 0.0\n")
    before, (_, mutant) = snapshot(task.root), every_mutant(task)[0]
    with held(task.root):
        waiting = {}
        for verb, words in WRITING.items():
            waiting[verb] = start(*(mutant.id if word == "ID" else word for word in words), cwd=task.root)
        for process in waiting.values():
            wait_for(lambda process=process: _waits(process.pid) or process.poll() is not None)  # type: ignore[misc]
            process.send_signal(signal.SIGINT)
        ended = {verb: finish(process) for verb, process in waiting.items()}
    for verb, one in ended.items():
        assert one.code == 130, (verb, one)
        assert f"waiting: another command is changing {task.name}; Ctrl-C gives up" in one.err, verb
    assert snapshot(task.root) == before


def test_verbs_that_only_read_do_not_wait(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    before = snapshot(task.root)
    with held(task.root):
        for verb, arguments in READING.items():
            ended = lmr_forked(*arguments, cwd=task.root)
            assert ended.code in (0, 1, 3), (verb, ended.err)
            assert "waiting:" not in ended.err
    assert snapshot(task.root) == before


def test_the_lock_of_a_killed_command_is_free(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    with held(task.root):
        waiting = start("evaluate", cwd=task.root)
        wait_for(lambda: _waits(waiting.pid))
    wait_for(lambda: not _is_free(task.root))
    waiting.kill()
    waiting.communicate()
    assert _is_free(task.root)


def test_nested_use_in_one_process_does_not_wait(tmp_path: Path) -> None:
    with held(tmp_path), held(tmp_path / "."):
        assert not _is_free(tmp_path)
    assert _is_free(tmp_path)


def test_a_folder_that_cannot_be_locked_is_locked_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    (tmp_path / "task").mkdir()
    real = fcntl.flock

    def as_nfs(descriptor: int, operation: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink() == tmp_path / "task":
            raise OSError(9, "Bad file descriptor")
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", as_nfs)
    with held(tmp_path / "task"):
        [file] = (tmp_path / "cache" / "locks").iterdir()
        with file.open("r+") as other, pytest.raises(BlockingIOError):
            real(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_free(folder: Path) -> bool:
    with _opened(folder) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _waits(pid: int) -> bool:
    """Whether a process waits for a lock: its line in /proc/locks has an arrow."""
    return any(
        f"-> FLOCK  ADVISORY  WRITE {pid} " in line for line in Path("/proc/locks").read_text().splitlines()
    )

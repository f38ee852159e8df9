"""A task whose records are links out of it: every verb refuses it with a message, and touches nothing outside."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lmr_author.cli.app import main
from lmr_author.core.errors import UnsafePathError
from lmr_author.core.task import Task
from tests.cli.program import snapshot

EXAMPLE = Path(__file__).parents[2] / "tasks" / "1-rating-margin"
TARGET = "prefopt/losses.py::rating_margin_loss"
OUT = "../../out"
VERBS = [
    ("status",),
    ("validate",),
    ("evaluate", "--sandbox", "local"),
    ("unmask", TARGET),
    ("mask", "train.py::main", "--no-input"),
    ("set", "year=2020"),
    ("record", TARGET, "--force", "--no-input", "--", "python", "train.py"),
    ("suggest",),
    ("vet", "--offline", "--no-input"),
    ("env", "lock"),
    ("env", "build"),
    ("env", "local"),
    ("judge", "--by-hand", "--candidate", "train.py", "--reviewer", "ada", "--no-input"),
    ("review", "--reviewer", "ada", "--answers", "../../answers.json"),
    ("report", "--html", "../../page.html"),
    ("export", ".", "--force", "--to", "agent", "--out", OUT),
    ("export", ".", "--force", "--to", "lmr-bench", "--out", OUT),
    ("export", ".", "--force", "--to", "harbor", "--out", OUT),
    ("export", ".", "--force", "--to", "huggingface", "--out", OUT, "--with-private", "../../private"),
]
REPORTS = ("status", "validate")
"""What says what is wrong with the task, and is no error."""
RECORDS = {
    "folders": ["authoring", "golden_files", "prefopt/unit_test"],
    "files": [
        "Dockerfile", ".dockerignore", "requirements.lock", "authoring/evaluation.json", "authoring/provenance.json",
        "golden_files/losses_golden.py", "prefopt/unit_test/unit_test_1.py",
        "prefopt/unit_test/recordings/1/recording.json", "prefopt/unit_test/recordings/1/case_1/expected.json",
    ],
    "the lock": ["requirements.lock"],
    "an expected output": ["prefopt/unit_test/recordings/1/case_1/expected.json"],
    "info.json": ["info.json"],
}  # fmt: skip


def linked_out(root: Path, names: list[str]) -> Path:
    """Put records of a task outside, with links in their places: who follows one finds what was there."""
    outside = root.parents[1] / "outside"
    for name in names:
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(root / name, outside / name)
        (root / name).symlink_to(outside / name)
    return outside


@pytest.mark.parametrize("names", RECORDS.values(), ids=RECORDS)
def test_no_verb_follows_a_record_out_of_the_task(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "tasks" / EXAMPLE.name
    shutil.copytree(EXAMPLE, root)
    linked_out(root, names)
    (tmp_path / "answers.json").write_text("{}")
    monkeypatch.chdir(root)
    before = snapshot(tmp_path)
    for verb in VERBS:
        code = main(list(verb))
        printed = capsys.readouterr()
        text = " ".join((printed.out + printed.err).split())
        assert "bug in lmr-author" not in text, verb
        assert "symbolic link" in text, (verb, text)
        assert code in ((0, 1) if verb[0] in REPORTS else (1, 2, 3)), (verb, code, text)
        assert snapshot(tmp_path) == before, verb


@pytest.mark.parametrize(
    "name", [name for name, member in vars(Task).items() if isinstance(member, type(vars(Task)["lock"]))]
)
def test_no_path_of_a_record_leads_out_of_the_task(name: str, tmp_path: Path) -> None:
    task = Task(tmp_path / "1-Task")
    path: Path = getattr(task, name)
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "outside")
    with pytest.raises(UnsafePathError, match="symbolic link"):
        getattr(task, name)
    if path.parent != task.root:
        path.unlink()
        path.parent.rmdir()
        path.parent.symlink_to(tmp_path)
        with pytest.raises(UnsafePathError, match="symbolic link"):
            getattr(task, name)


def test_a_link_that_stays_in_the_task_is_followed(tmp_path: Path) -> None:
    root = tmp_path / EXAMPLE.name
    shutil.copytree(EXAMPLE, root)
    shutil.move(root / "requirements.lock", root / "prefopt" / "lock.txt")
    (root / "requirements.lock").symlink_to("prefopt/lock.txt")
    assert Task(root).load().implementations
    assert Task(root).lock.is_file()

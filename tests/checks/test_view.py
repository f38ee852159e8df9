"""What a view says of paths, from what was listed, is what the file system says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.checks import example_task
from lmr_author.checks.listing import Entry
from lmr_author.checks.view import TaskView
from lmr_author.errors import LmrError

PATHS = [
    "Dockerfile",
    "dockerfile",
    "margin-ranking",
    "margin-ranking/LICENSE",
    "margin-ranking//LICENSE",
    "margin-ranking/./LICENSE",
    "margin-ranking/../Dockerfile",
    "margin-ranking/ranking/../LICENSE",
    "margin-ranking/LICENSE/inner",
    "margin-ranking/absent",
    "absent/LICENSE",
    "absent/further/LICENSE",
    "absent/.",
    "margin-ranking/.",
    "margin-ranking/absent/./LICENSE",
    "shown/ranking/losses.py",
    "pipe/inner",
    "shown",
    "shown/LICENSE",
    "shown/absent",
    "license",
    "out",
    "out/secret.txt",
    "nowhere",
    "pipe",
    "a..b",
    "x" * 300,
    "/etc/hostname",
    "",
]


@pytest.fixture
def view(tmp_path: Path) -> TaskView:
    task = example_task.write(tmp_path / "tasks")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.txt").write_text("outside\n")
    (task.root / "shown").symlink_to("margin-ranking")
    (task.root / "license").symlink_to("margin-ranking/LICENSE")
    (task.root / "out").symlink_to(tmp_path / "elsewhere")
    (task.root / "nowhere").symlink_to("gone")
    (task.root / "a..b").write_text("two dots\n")
    os.mkfifo(task.root / "pipe")
    return TaskView(task)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _inside(root: Path, relative: str) -> Path | None:
    try:
        return files.inside(root, relative)
    except (LmrError, OSError):
        return None


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("relative", PATHS)
def test_paths(view: TaskView, relative: str, *, listed: bool) -> None:
    if listed:
        view.hold_all()
    root = view.task.root

    assert view.is_file(root / relative) == _is_file(root / relative)
    assert view.is_file(f"{root}/{relative}") == _is_file(Path(f"{root}/{relative}"))
    assert view.inside(root, relative) == (_inside(root, relative) if relative else None)
    assert view.read_bytes(root / relative) == files.read_inside(view.root, root / relative, 1 << 20)


def test_the_paths_are_of_each_kind(view: TaskView) -> None:
    kinds = {view.seen(view.task.root / path) for path in PATHS if len(view.entries) > 10}

    assert kinds == {"file", "folder", "link", "special", "", None}


def test_what_lies_below_a_folder(view: TaskView) -> None:
    below = {entry.relative for entry in view.below("margin-ranking/ranking")}

    assert below == {
        path.relative_to(view.task.root).as_posix()
        for path in (view.task.root / "margin-ranking" / "ranking").rglob("*")
    }
    assert below and view.below("shown") == ()


def test_of_a_folder_that_could_not_be_listed_nothing_is_known(view: TaskView) -> None:
    folder = "margin-ranking/ranking"
    others = (entry for entry in view.entries if not entry.relative.startswith(f"{folder}/"))
    view.entries = (*others, Entry(folder, "closed", 0, "ranking", "margin-ranking"))

    assert view.seen(view.task.root / folder / "__init__.py") is None
    assert view.seen(view.task.root / folder / "further" / "__init__.py") is None
    assert view.is_file(view.task.root / folder / "__init__.py")


def test_what_has_a_name(view: TaskView) -> None:
    assert [entry.relative for entry in view.named("__init__.py")] == ["margin-ranking/ranking/__init__.py"]
    assert {entry.relative for entry in view.named("shown")} == {"shown"}
    assert not view.named("gone")

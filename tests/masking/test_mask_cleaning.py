"""What gives the answer away is taken out, and comes back."""

from __future__ import annotations

import json

import pytest

from lmr_author.authoring.masking import MaskOptions, mask, unmask
from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from tests.cli.program import validate_with
from tests.masking.masks import HINGE, tree

COMMITTED = (
    "pkg/__pycache__/losses.cpython-37.pyc",
    "pkg/__pycache__/notes.txt",
    "pkg/old.pyc",
    ".DS_Store",
    "data/.DS_Store",
    "notebooks/.ipynb_checkpoints/run-checkpoint.ipynb",
    "pkg/losses.py.orig",
    "build/lib/pkg/losses.py",
    "small.egg-info/SOURCES.txt",
)
"""Files of the kinds that masking takes out, as public repositories have them under version control."""


def commit(task: Task) -> None:
    for name in COMMITTED:
        path = task.root / "small-repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"committed {name}".encode())


def test_committed_caches_and_backups_come_back_with_the_last_target(task: Task) -> None:
    commit(task)
    root = task.root / "small-repo"
    before = tree(root)
    mask(task, MaskOptions((HINGE, "pkg/losses.py::Meter.add")), task.root)
    assert not set(COMMITTED) & set(tree(root))
    assert unmask(task, HINGE, task.root).put_back == ()
    done = unmask(task, None, task.root)
    assert set(done.put_back) == {
        "pkg/__pycache__", "pkg/old.pyc", ".DS_Store", "data/.DS_Store", "notebooks/.ipynb_checkpoints",
        "pkg/losses.py.orig", "build", "small.egg-info",
    }  # fmt: skip
    assert tree(root) == before
    assert not (task.authoring / "removed" / "from-repository.json").exists()


def test_what_a_run_makes_again_is_deleted_and_never_takes_the_place_of_the_repository_s_own(
    task: Task,
) -> None:
    commit(task)
    root = task.root / "small-repo"
    before = tree(root)
    mask(task, MaskOptions((HINGE,)), task.root)
    for name in ("pkg/__pycache__/losses.cpython-311.pyc", "pkg/old.pyc"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"of a run")
    again = mask(task, MaskOptions(("pkg/losses.py::Meter.add",)), task.root)
    assert again.moved == () and not (root / "pkg" / "old.pyc").exists()
    (root / ".DS_Store").write_bytes(b"of a file manager")
    unmask(task, None, task.root)
    assert tree(root) == before


@pytest.mark.parametrize("damaged", ["{", "[]", '{"pkg/old.pyc": 3}'])
def test_a_damaged_record_of_what_was_taken_out_stops_it_before_anything_is_written(
    task: Task, damaged: str
) -> None:
    commit(task)
    mask(task, MaskOptions((HINGE,)), task.root)
    files.write_text(task.removed_folder / "from-repository.json", damaged)
    before = tree(task.root)
    for change in (
        lambda: unmask(task, None, task.root),
        lambda: mask(task, MaskOptions(("pkg/losses.py::Meter.add",)), task.root),
    ):
        with pytest.raises(LmrError, match=r"from-repository\.json"):
            change()
    assert tree(task.root) == before


def test_what_has_something_new_in_its_place_and_a_history_are_said_to_stay_away(task: Task) -> None:
    commit(task)
    root = task.root / "small-repo"
    (root / ".git").mkdir()
    mask(task, MaskOptions((HINGE,)), task.root)
    (root / "build").write_bytes(b"a script")
    done = unmask(task, None, task.root)
    assert set(done.left_out) == {"build", ".git"}
    left = json.loads((task.authoring / "removed" / "from-repository.json").read_bytes())
    validate_with("from-repository", left)
    assert left == {"build": "build", ".git": ".git"}
    assert (root / "build").read_bytes() == b"a script"
    assert (task.authoring / "removed" / "build" / "lib" / "pkg" / "losses.py").is_file()
    (root / "build").unlink()
    mask(task, MaskOptions((HINGE,)), task.root)
    assert "build" in unmask(task, None, task.root).put_back
    assert (root / "build" / "lib" / "pkg" / "losses.py").is_file()

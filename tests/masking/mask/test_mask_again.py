"""Masks that were killed, and files that somebody edited."""

from __future__ import annotations

import pytest

from lmr_author.errors import LmrError, TargetError
from lmr_author.masking import MaskOptions, mask, unmask
from lmr_author.task import Task
from tests.masking.mask.masked import HINGE, goal
from tests.support import LOSSES


def test_a_killed_mask_is_completed_by_running_it_again(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the goal file and info.json: the second run completes the entry."""
    with monkeypatch.context() as patch:
        patch.setattr(Task, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            mask(task, MaskOptions((HINGE,)), task.root)
    assert b"NotImplementedError" in goal(task).read_bytes()
    assert task.load().implementations == ()
    mask(task, MaskOptions((HINGE,)), task.root)
    assert task.load().implementations[0].qualname == "hinge"
    assert (task.root / "golden_files" / "losses_golden.py").read_bytes() == LOSSES
    unmask(task, None, task.root)
    assert goal(task).read_bytes() == LOSSES


def test_an_edited_goal_file_is_not_overwritten_without_force(task: Task) -> None:
    mask(task, MaskOptions((HINGE,)), task.root)
    edited = goal(task).read_bytes() + b"\nMINE = 1\n"
    goal(task).write_bytes(edited)
    with pytest.raises(TargetError, match="edited outside"):
        unmask(task, None, task.root)
    assert goal(task).read_bytes() == edited
    unmask(task, None, task.root, force=True)
    assert goal(task).read_bytes() == LOSSES
    assert (task.authoring / "removed" / "small-repo" / "pkg" / "losses.py").read_bytes() == edited


def test_a_golden_that_is_not_ours_is_never_overwritten(task: Task) -> None:
    path = task.root / "golden_files" / "losses_golden.py"
    path.write_bytes(b"def hinge(x, margin=1.0):\n    return x\n")
    with pytest.raises(LmrError, match="is not the original"):
        mask(task, MaskOptions((HINGE,)), task.root)
    assert path.read_bytes() == b"def hinge(x, margin=1.0):\n    return x\n"
    assert goal(task).read_bytes() == LOSSES

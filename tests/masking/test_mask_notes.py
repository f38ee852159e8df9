"""`mask` with words: docstring, comment and context, given once and kept."""

from __future__ import annotations

import inspect

import pytest

from lmr_author.authoring.masking import unmask
from lmr_author.authoring.masking.body import FunctionNotes, MaskNotes
from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Task
from lmr_author.proof.validation.run import validate
from tests.masking.masks import DOCUMENTED, HINGE, INIT, NOTES, function, goal, masked, tree, write
from tests.support import LOSSES

# docstring and comment


def test_a_docstring_stands_in_the_masked_file_only(task: Task) -> None:
    result = masked(task, INIT, notes=DOCUMENTED)
    assert inspect.cleandoc(function(task, "Meter.__init__").docstring or "") == DOCUMENTED.docstring
    assert (task.root / "golden_files" / "losses_golden.py").read_bytes() == LOSSES
    assert not [text for text in result.remarks if "no docstring" in text]
    findings = validate([task]).findings
    assert not [item for item in findings if item.code.startswith("LMR3")], findings
    unmask(task, None, task.root)
    assert goal(task).read_bytes() == LOSSES


def test_words_are_kept_when_unmasked_and_masked_again(task: Task) -> None:
    masked(task, INIT, HINGE, each={INIT: FunctionNotes(DOCUMENTED), HINGE: FunctionNotes(NOTES)})
    first = goal(task).read_bytes()
    assert unmask(task, None, task.root).moved == ()
    masked(task, INIT, HINGE)
    assert goal(task).read_bytes() == first


def test_a_damaged_record_of_an_earlier_mask_is_named_and_never_written_over(task: Task) -> None:
    masked(task, HINGE)
    path = task.removed_folder / "implementation-1.json"
    files.write_text(path, "{")
    unmask(task, None, task.root)
    assert path.read_text() == "{"
    with pytest.raises(LmrError, match=r"implementation-1\.json"):
        masked(task, HINGE)


def test_words_changed_by_hand_are_kept_too(task: Task) -> None:
    masked(task, INIT, notes=DOCUMENTED)
    path = goal(task)
    path.write_bytes(
        path.read_bytes().replace(b"keep it", b"keep it well").replace(b"a meter of", b"the meter of")
    )
    changed = path.read_bytes()
    unmask(task, None, task.root)
    masked(task, INIT)
    assert path.read_bytes() == changed
    masked_again = tree(task.root)
    assert unmask(task, None, task.root).moved == ()
    assert tree(task.root) != masked_again


def test_a_comment_without_its_todo_is_put_aside(task: Task) -> None:
    masked(task, INIT, notes=NOTES)
    path = goal(task)
    path.write_bytes(path.read_bytes().replace(b"# TODO: implement", b"# My own words on"))
    edited = path.read_bytes()
    assert unmask(task, None, task.root).moved == ("small-repo/pkg/losses.py",)
    assert (task.authoring / "removed" / "small-repo" / "pkg" / "losses.py").read_bytes() == edited


def test_what_is_given_later_goes_over_what_was_kept(task: Task) -> None:
    masked(task, INIT, notes=DOCUMENTED, retrieval=("run.py",))
    unmask(task, None, task.root)
    result = masked(task, INIT, notes=MaskNotes("Another."))
    text = goal(task).read_text()
    assert "# Another." in text and "Keep a size." not in text and '"""Make a meter of' in text
    assert result.implementations[0].retrieval_context == ("run.py",)


def test_an_instruction_with_a_gap_is_drafted_anew_from_a_comment(task: Task) -> None:
    write(task, "more.py", "def cl_forward(x):\n    return x\n")
    (first,) = masked(task, "more.py::cl_forward").implementations
    assert "[to fill in" in first.instruction
    unmask(task, None, task.root)
    notes = MaskNotes("Contrast pairs.")
    (again,) = masked(task, "more.py::cl_forward", notes=notes).implementations
    assert "Its purpose: Contrast pairs." in again.instruction and "[to fill in" not in again.instruction


def test_words_for_one_are_not_written_into_several(task: Task) -> None:
    before = tree(task.root)
    with pytest.raises(UsageError, match="2 are named"):
        masked(task, INIT, HINGE, notes=NOTES)
    with pytest.raises(UsageError, match="is not a target"):
        masked(task, HINGE, each={INIT: FunctionNotes(NOTES)})
    assert tree(task.root) == before


# context


def test_context_is_proposed_when_asked_for(task: Task) -> None:
    write(task, "pkg/more.py", "from pkg.losses import hinge\ndef twice(x):\n    return 2 * hinge(x)\n")
    result = masked(task, "pkg/more.py::twice")
    assert result.implementations[0].retrieval_context == ()
    unmask(task, None, task.root)
    result = masked(task, "pkg/more.py::twice", retrieval=("run.py",), propose_retrieval=True)
    assert result.implementations[0].retrieval_context == ("run.py", "pkg/losses.py")

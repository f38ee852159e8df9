"""`mask` with words: docstring, comment and context, given once and kept."""

from __future__ import annotations

import inspect

import pytest

from lmr_author.authoring.masking import MaskOptions, unmask
from lmr_author.authoring.masking.body import Described, MaskNotes
from lmr_author.authoring.masking.locate import select, targets_of
from lmr_author.authoring.masking.mask import describe, drafts, preview
from lmr_author.authoring.masking.notes_file import read_notes_file, write_notes_file
from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Task
from lmr_author.proof.validation.run import validate
from tests.masking.masks import ADD, DOCUMENTED, HINGE, INIT, NOTES, function, goal, masked, tree, write
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
    masked(task, INIT, HINGE, each={INIT: Described(DOCUMENTED), HINGE: Described(NOTES)})
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


def test_a_comment_that_is_no_longer_structured_is_put_aside(task: Task) -> None:
    masked(task, INIT, notes=NOTES)
    path = goal(task)
    path.write_bytes(path.read_bytes().replace(b"# TODO: implement", b"# My own words on"))
    edited = path.read_bytes()
    assert unmask(task, None, task.root).moved == ("small-repo/pkg/losses.py",)
    assert (task.authoring / "removed" / "small-repo" / "pkg" / "losses.py").read_bytes() == edited


def test_what_is_given_later_goes_over_what_was_kept(task: Task) -> None:
    masked(task, INIT, notes=DOCUMENTED, retrieval=("run.py",))
    unmask(task, None, task.root)
    result = masked(task, INIT, notes=MaskNotes(objective="Another."))
    text = goal(task).read_text()
    assert "# Objective: Another." in text and "Keep a size." not in text and "# Inputs:" in text
    assert result.implementations[0].retrieval_context == ("run.py",)


def test_an_instruction_with_a_gap_is_drafted_anew_from_new_notes(task: Task) -> None:
    write(task, "more.py", "def cl_forward(x):\n    return x\n")
    (first,) = masked(task, "more.py::cl_forward").implementations
    assert "[to fill in" in first.instruction
    unmask(task, None, task.root)
    notes = MaskNotes(objective="Contrast pairs.", outputs=("Two: a loss. More on it.",))
    (again,) = masked(task, "more.py::cl_forward", notes=notes).implementations
    assert "Its purpose: Contrast pairs." in again.instruction and "[to fill in" not in again.instruction
    assert "Outputs: Two: a loss. More on it. Keep" in again.instruction


def test_words_for_one_are_not_written_into_several(task: Task) -> None:
    before = tree(task.root)
    with pytest.raises(UsageError, match="2 are named"):
        masked(task, INIT, HINGE, notes=NOTES)
    with pytest.raises(UsageError, match="not to be masked"):
        masked(task, HINGE, each={INIT: Described(NOTES)})
    assert tree(task.root) == before


# context


def test_context_is_proposed_when_asked_for(task: Task) -> None:
    write(task, "pkg/more.py", "from pkg.losses import hinge\ndef twice(x):\n    return 2 * hinge(x)\n")
    result = masked(task, "pkg/more.py::twice")
    assert result.implementations[0].retrieval_context == ()
    unmask(task, None, task.root)
    result = masked(task, "pkg/more.py::twice", retrieval=("run.py",), propose_retrieval=True)
    assert result.implementations[0].retrieval_context == ("run.py", "pkg/losses.py")


# notes files


def test_a_drafted_file_masks_what_it_names(task: Task) -> None:
    selection = select(task, [HINGE, INIT], task.root)
    before = tree(task.root)
    text = write_notes_file(drafts(selection), selection.documented)
    assert tree(task.root) == before
    named, each = targets_of(task, read_notes_file(text, "notes.yaml"), "notes.yaml", task.root)
    assert named == (HINGE, INIT)
    masked(task, *named, each=each)
    masked_text = goal(task).read_text()
    assert "# Objective: Hinge loss of a margin." in masked_text
    assert '"""Initialize a `Meter`.' in masked_text and "Args:\n            size" in masked_text
    selection = select(task, [ADD], task.root)
    assert describe(task, selection, MaskOptions((ADD,)))[ADD].notes is None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            f"- target: {ADD}\n- target: {ADD}\n",
            "n: pkg/losses.py::Meter.add is named twice",
        ),
        (
            "- target: pkg/losses.py::Meter\n  objective: x\n",
            "n: pkg/losses.py::Meter is a class",
        ),
        ("- target: pkg/losses.py::nothing\n", "n: no function 'nothing'"),
    ],
)
def test_a_notes_file_with_wrong_targets(entries: str, message: str, task: Task) -> None:
    with pytest.raises(LmrError) as error:
        targets_of(task, read_notes_file(f"targets:\n{entries}", "n"), "n", task.root)
    assert message in error.value.message


def test_a_preview_is_what_will_stand_there(task: Task) -> None:
    (item,) = select(task, [HINGE], task.root).chosen
    shown = preview(item, NOTES).splitlines()
    assert shown[0] == "def hinge(x, margin=1.0):"
    assert shown[1].startswith('    """Hinge loss of a margin.')
    assert "    # TODO: implement hinge." in shown
    assert shown[-1] == "    raise NotImplementedError"

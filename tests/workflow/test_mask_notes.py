"""`mask` with words: docstring, comment and context, given once and kept; kinds of targets; several."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author import files, source
from lmr_author.errors import LmrError, TargetError, UsageError
from lmr_author.masking.notes import MaskNotes
from lmr_author.masking.notes_file import Described, read_notes_file, write_notes_file
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import validate
from lmr_author.workflow.mask import MaskOptions, MaskResult, mask
from lmr_author.workflow.mask_drafts import drafts, preview, with_docstring, without_context, without_notes
from lmr_author.workflow.mask_select import select, targets_of
from lmr_author.workflow.unmask import unmask
from tests.cli.program import validate_with
from tests.support import LOSSES, make_task

HINGE, INIT, ADD = "pkg/losses.py::hinge", "pkg/losses.py::Meter.__init__", "pkg/losses.py::Meter.add"
NOTES = MaskNotes("Keep a size.", ("size (int): how many",), (), ("Meter",), ("math",), ("keep it",))
DOCUMENTED = replace(NOTES, docstring='Make a meter of "size".\n\nArgs:\n    size: how many')


@pytest.fixture
def task(tmp_path: Path) -> TaskDir:
    return make_task(tmp_path)


def write(task: TaskDir, name: str, text: str) -> Path:
    path = task.root / "small-repo" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def masked(task: TaskDir, *targets: str, **options: object) -> MaskResult:
    return mask(task, MaskOptions(targets, category="Evaluation Metrics", **options), task.root)  # type: ignore[arg-type]


def function(task: TaskDir, qualname: str) -> source.Definition:
    data = (task.root / "small-repo" / "pkg" / "losses.py").read_bytes()
    return next(
        item for item in source.Module.parse(data, "losses.py").definitions if item.qualname == qualname
    )


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files.walk(folder)}


# docstring and comment


def test_a_docstring_stands_in_the_masked_file_only(task: TaskDir) -> None:
    result = masked(task, INIT, notes=DOCUMENTED)
    assert inspect.cleandoc(function(task, "Meter.__init__").docstring or "") == DOCUMENTED.docstring
    assert (task.root / "golden_files" / "losses_golden.py").read_bytes() == LOSSES
    assert not [text for text in result.remarks if "no docstring" in text]
    findings = validate([task]).findings
    assert not [item for item in findings if item.code.startswith("LMR3")], findings
    unmask(task, None, task.root)
    assert (task.root / "small-repo" / "pkg" / "losses.py").read_bytes() == LOSSES


def test_a_missing_docstring_is_remarked_not_written(task: TaskDir) -> None:
    result = masked(task, INIT)
    assert function(task, "Meter.__init__").docstring is None
    assert any("Meter.__init__ has no docstring" in text for text in result.remarks)


def test_an_existing_docstring_is_not_changed(task: TaskDir) -> None:
    before = tree(task.root)
    with pytest.raises(TargetError, match="never changed"):
        masked(task, HINGE, notes=DOCUMENTED)
    assert tree(task.root) == before


def test_words_are_kept_when_unmasked_and_masked_again(task: TaskDir) -> None:
    masked(task, INIT, HINGE, each={INIT: Described(DOCUMENTED), HINGE: Described(NOTES)})
    first = (task.root / "small-repo" / "pkg" / "losses.py").read_bytes()
    assert unmask(task, None, task.root).moved == ()
    masked(task, INIT, HINGE)
    assert (task.root / "small-repo" / "pkg" / "losses.py").read_bytes() == first


def test_words_for_one_target_outlast_those_for_another_of_the_same_number(task: TaskDir) -> None:
    for target in (HINGE, ADD, HINGE):
        masked(
            task,
            target,
            instruction=f"Implement {target}, please.",
            notes=MaskNotes(objective=f"Of {target}."),
        )
        unmask(task, None, task.root)
    masked(task, HINGE, instruction="Implement it anew.")
    unmask(task, None, task.root)

    assert len(list(task.removed_folder.glob("implementation-*.json"))) == 2
    for target, words in ((HINGE, "Implement it anew."), (ADD, f"Implement {ADD}, please.")):
        (again,) = masked(task, target).implementations
        assert again.instruction == words
        assert f"Of {target}." in task.goal(task.load(), again).read_text()
        unmask(task, None, task.root)


def test_a_damaged_record_of_an_earlier_mask_is_named_and_never_written_over(task: TaskDir) -> None:
    masked(task, HINGE)
    path = task.removed_folder / "implementation-1.json"
    files.write_text(path, "{")
    unmask(task, None, task.root)
    assert path.read_text() == "{"
    with pytest.raises(LmrError, match=r"implementation-1\.json"):
        masked(task, HINGE)


def test_words_changed_by_hand_are_kept_too(task: TaskDir) -> None:
    masked(task, INIT, notes=DOCUMENTED)
    goal = task.root / "small-repo" / "pkg" / "losses.py"
    goal.write_bytes(
        goal.read_bytes().replace(b"keep it", b"keep it well").replace(b"a meter of", b"the meter of")
    )
    changed = goal.read_bytes()
    unmask(task, None, task.root)
    masked(task, INIT)
    assert goal.read_bytes() == changed
    masked_again = tree(task.root)
    assert unmask(task, None, task.root).moved == ()
    assert tree(task.root) != masked_again


def test_a_comment_that_is_no_longer_structured_is_put_aside(task: TaskDir) -> None:
    masked(task, INIT, notes=NOTES)
    goal = task.root / "small-repo" / "pkg" / "losses.py"
    goal.write_bytes(goal.read_bytes().replace(b"# TODO: implement", b"# My own words on"))
    edited = goal.read_bytes()
    assert unmask(task, None, task.root).moved == ("small-repo/pkg/losses.py",)
    assert (task.authoring / "removed" / "small-repo" / "pkg" / "losses.py").read_bytes() == edited


def test_what_is_given_later_goes_over_what_was_kept(task: TaskDir) -> None:
    masked(task, INIT, notes=DOCUMENTED, retrieval=("run.py",))
    unmask(task, None, task.root)
    result = masked(task, INIT, notes=MaskNotes(objective="Another."))
    text = (task.root / "small-repo" / "pkg" / "losses.py").read_text()
    assert "# Objective: Another." in text and "Keep a size." not in text and "# Inputs:" in text
    assert result.implementations[0].retrieval_context == ("run.py",)


def test_a_bare_todo(task: TaskDir) -> None:
    masked(task, INIT, each={INIT: Described(DOCUMENTED)}, style="todo")
    text = (task.root / "small-repo" / "pkg" / "losses.py").read_text()
    assert "Make a meter" in text and "# TODO: implement __init__." in text and "Objective" not in text
    with pytest.raises(UsageError, match="--style todo"):
        masked(task, ADD, notes=NOTES, style="todo")
    with pytest.raises(UsageError, match="unknown style"):
        masked(task, ADD, style="loud")


def test_words_for_one_are_not_written_into_several(task: TaskDir) -> None:
    before = tree(task.root)
    with pytest.raises(UsageError, match="2 are named"):
        masked(task, INIT, HINGE, notes=NOTES)
    with pytest.raises(UsageError, match="not to be masked"):
        masked(task, HINGE, each={INIT: Described(NOTES)})
    assert tree(task.root) == before


# context


def test_context_is_proposed_when_asked_for_and_hinted_at_when_not(task: TaskDir) -> None:
    write(task, "pkg/more.py", "from pkg.losses import hinge\ndef twice(x):\n    return 2 * hinge(x)\n")
    result = masked(task, "pkg/more.py::twice")
    assert result.implementations[0].retrieval_context == ()
    assert any("defined in pkg/losses.py: `--retrieval auto`" in text for text in result.remarks)
    unmask(task, None, task.root)
    result = masked(task, "pkg/more.py::twice", retrieval=())
    assert not [text for text in result.remarks if "retrieval" in text]
    unmask(task, None, task.root)
    result = masked(task, "pkg/more.py::twice", retrieval=("run.py",), propose_retrieval=True)
    assert result.implementations[0].retrieval_context == ("run.py", "pkg/losses.py")


# notes files


def test_a_drafted_file_masks_what_it_names(task: TaskDir) -> None:
    selection = select(task, [HINGE, INIT], task.root)
    before = tree(task.root)
    text = write_notes_file(drafts(selection), with_docstring(selection))
    assert tree(task.root) == before
    named, each = targets_of(task, read_notes_file(text, "notes.yaml"), "notes.yaml", task.root)
    assert named == (HINGE, INIT)
    masked(task, *named, each=each)
    masked_text = (task.root / "small-repo" / "pkg" / "losses.py").read_text()
    assert "# Objective: Hinge loss of a margin." in masked_text
    assert (
        function(task, "Meter.__init__").docstring
        == "Initialise a Meter.\n\n        Args:\n            size: for example `2` in run.py\n        "
    )
    selection = select(task, [ADD], task.root)
    assert without_notes(task, selection, MaskOptions((ADD,))) == [ADD]


def test_nothing_is_asked_twice(task: TaskDir) -> None:
    masked(task, INIT, notes=NOTES, retrieval=("run.py",))
    unmask(task, None, task.root)
    selection, options = select(task, [INIT, ADD], task.root), MaskOptions((INIT, ADD))
    assert without_notes(task, selection, options) == [ADD]
    assert without_context(task, selection, options) == [ADD]
    assert without_context(task, selection, replace(options, propose_retrieval=True)) == []
    assert without_notes(task, selection, replace(options, each={ADD: Described(MaskNotes())})) == []


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            f"- target: {INIT}\n- target: pkg/losses.py::Meter\n",
            "n:3: pkg/losses.py::Meter.__init__ is named twice",
        ),
        (
            "- target: pkg/losses.py::Meter\n  objective: x\n",
            "n:2: pkg/losses.py::Meter stands for 4 functions",
        ),
        ("- target: pkg/losses.py::nothing\n", "n:2: no function 'nothing'"),
    ],
)
def test_a_notes_file_with_wrong_targets(entries: str, message: str, task: TaskDir) -> None:
    with pytest.raises(LmrError) as error:
        targets_of(task, read_notes_file(f"targets:\n{entries}", "n"), "n", task.root)
    assert message in error.value.message


def test_a_preview_is_what_will_stand_there(task: TaskDir) -> None:
    (item,) = select(task, [HINGE], task.root).chosen
    shown = preview(item, NOTES).splitlines()
    assert shown[:3] == [
        "def hinge(x, margin=1.0):",
        '    """Hinge loss of a margin. …',
        "    # TODO: implement hinge.",
    ]
    assert shown[-1] == "    raise NotImplementedError"


# targets


CLASS = """\
from abc import abstractmethod
from typing import overload


class Box:
    width = 1

    def __init__(self): self.size = 1

    @property
    def area(self): return self.size ** 2

    @area.setter
    def area(self, value): self.size = value ** 0.5

    @overload
    def put(self, x: int) -> int: ...
    def put(self, x): return x

    @abstractmethod
    def take(self): ...

    def later(self):
        raise NotImplementedError("later")

    if width:
        def wide(self): return True

    class Lid:
        def close(self): return 1

    def __len__(self): return 3
"""


def test_a_class_stands_for_its_own_methods_that_have_a_body(task: TaskDir) -> None:
    path = write(task, "box.py", CLASS)
    result = masked(task, "box.py::Box")
    names = [str(item.target).partition("::")[2] for item in result.implementations]
    assert names == ["Box.__init__", "Box.area#1", "Box.area#2", "Box.put", "Box.wide", "Box.__len__"]
    said = "\n".join(result.remarks)
    for text in (
        "Box.take is left as it is: its body is `...`",
        "Box.later is left as it is: its body is `raise NotImplementedError('later')`",
        "nested class Box.Lid",
    ):
        assert text in said
    unmask(task, None, task.root)
    assert path.read_text() == CLASS


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (["box.py::Box.put", "box.py::Box.put"], "box.py::Box.put is given twice"),
        (["box.py::Box", "box.py::Box.put"], "box.py::Box.put is given twice"),
        (["box.py::Box.area#1", "box.py::Box.area:11"], "box.py::Box.area is given twice"),
        (["more.py::outer", "more.py::outer.inner"], "more.py::outer.inner lies inside outer"),
        (["box.py::Box.put#1"], "is an overload, without a body"),
        (["box.py::Box.take"], "nothing to mask: its body is `...`"),
        (["box.py::Box.later"], "nothing to mask: its body is `raise NotImplementedError('later')`"),
        (["box.py::Box.put", "more.py::documented"], "nothing to mask: its body is a docstring"),
        (["more.py::twice"], "defined 2 times"),
        (["more.py::short"], "is a lambda (line 17)"),
        (["more.py::number"], "is a variable (line 18)"),
        (["more.py::hinge"], "is only imported from pkg.losses there (line 1)"),
        (["more.py::Empty"], "no method of Empty in more.py has a body"),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_what_cannot_be_masked_is_said_before_anything_is_written(
    targets: list[str], message: str, task: TaskDir
) -> None:
    write(task, "box.py", CLASS)
    write(
        task,
        "more.py",
        "from pkg.losses import hinge\n"
        "def outer():\n    def inner(): return 1\n    return inner\n"
        'def documented():\n    """Only this."""\n'
        "if 1:\n    def twice(): return 1\nelse:\n    def twice(): return 2\n"
        "class Twice:\n    if 1:\n        def f(self): return 1\n    else:\n        def f(self): return 2\n\n"
        "short = lambda x: x\nnumber, other = 1, 2\nclass Empty:\n    def f(self): pass\n",
    )
    before = tree(task.root)
    with pytest.raises(TargetError) as error:
        masked(task, *targets)
    assert message in error.value.message
    assert error.value.hint
    assert tree(task.root) == before


def test_one_target_given_twice_is_no_matter_of_lines(task: TaskDir) -> None:
    with pytest.raises(TargetError) as error:
        masked(task, HINGE, f"small-repo/{HINGE}")
    assert error.value.message == f"{HINGE} is given twice"


def test_a_function_around_a_masked_one_is_refused(task: TaskDir) -> None:
    write(task, "more.py", "def outer():\n    def inner(): return 1\n    return inner\n")
    masked(task, "more.py::outer.inner")
    with pytest.raises(TargetError, match=r"outer\.inner, inside of outer, is already masked"):
        masked(task, "more.py::outer")


def test_several_of_one_name_each_have_their_own_notes_and_are_restored_one_by_one(task: TaskDir) -> None:
    path = write(task, "box.py", CLASS)
    first, second = "box.py::Box.area#1", "box.py::Box.area#2"
    said = {name: Described(notes=MaskNotes(objective=f"Do {name[-1]}.")) for name in (first, second)}
    for typed, name in ((second, second), ("box.py::Box.area:11", first)):
        options = MaskOptions((typed,), category="Evaluation Metrics", each={name: said[name]})
        mask(task, options, task.root)
    assert [str(item.target) for item in task.load().implementations] == [second, first]
    validate_with("info", json.loads(task.info_path.read_bytes()))
    assert (
        path.read_text().index("Do 1.")
        < path.read_text().index("@area.setter")
        < path.read_text().index("Do 2.")
    )
    for again in (first, second):
        with pytest.raises(TargetError, match=f"{again} is already masked"):
            masked(task, again)
    unmask(task, "box.py::Box.area:11", task.root)
    assert "self.size ** 2" in path.read_text() and "value ** 0.5" not in path.read_text()
    masked(task, first)
    assert path.read_text().index("Do 1.") < path.read_text().index("Do 2."), "its notes are known"
    unmask(task, "box.py::Box.area", task.root)
    assert path.read_text() == CLASS


def test_the_other_of_two_is_refused_where_the_task_does_not_say_which_one_is_masked(task: TaskDir) -> None:
    write(task, "box.py", CLASS)
    masked(task, "box.py::Box.area#2")
    document = json.loads(task.info_path.read_bytes())
    del document["implementations"][0]["goal_nth"]
    task.info_path.write_text(json.dumps(document))
    with pytest.raises(
        TargetError, match=r"another box\.py::Box\.area is masked already, as implementation 1"
    ):
        masked(task, "box.py::Box.area#1")


def test_a_body_that_raises_by_itself_is_not_taken_for_a_mask(task: TaskDir) -> None:
    """`raise NotImplementedError` in the golden too: nothing to mask, before and after its file is."""
    write(task, "box.py", CLASS)
    masked(task, "box.py::Box.put")
    with pytest.raises(TargetError, match="nothing to mask"):
        masked(task, "box.py::Box.later")


def test_targets_in_several_files_at_once(task: TaskDir) -> None:
    write(task, "box.py", CLASS)
    write(task, "pkg/box.py", "def f(x):\n    return x\n")
    before = tree(task.root / "small-repo")
    result = masked(task, "box.py::Box.put", "pkg/box.py::f", HINGE, "box.py::Box.wide")
    assert [(item.index, item.goal_file) for item in result.implementations] == [
        (1, "box.py"), (2, "box.py"), (3, "pkg/box.py"), (4, "pkg/losses.py"),
    ]  # fmt: skip
    goldens = {item["golden_file"] for item in json.loads(task.info_path.read_text())["implementations"]}
    assert len(goldens) == 3
    unmask(task, None, task.root)
    assert tree(task.root / "small-repo") == before

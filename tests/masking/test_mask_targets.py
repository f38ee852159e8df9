"""What `mask` takes for a target: kinds of definitions, several at once, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask, unmask
from lmr_author.authoring.masking.body import FunctionNotes, MaskNotes
from lmr_author.core.errors import TargetError
from lmr_author.core.task import Task
from lmr_author.proof.validation.run import select_checks, validate
from tests.cli.program import validate_with
from tests.masking.masks import HINGE, masked, tree, write
from tests.support import make_task

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


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (["box.py::Box.put", "box.py::Box.put"], "box.py::Box.put is given twice"),
        (["box.py::Box"], "box.py::Box is a class"),
        (["init.py::Box"], "init.py::Box is a class"),
        (["box.py::Box.area#1", "box.py::Box.area:11"], "box.py::Box.area is given twice"),
        (["more.py::outer", "more.py::outer.inner"], "more.py::outer.inner lies inside outer"),
        (["box.py::Box.put#1"], "is an overload, without a body"),
        (["box.py::Box.take"], "nothing to mask: its body is `...`"),
        (["box.py::Box.later"], "nothing to mask: its body is `raise NotImplementedError('later')`"),
        (["box.py::Box.put", "more.py::documented"], "nothing to mask: its body is a docstring"),
        (["more.py::twice"], "defined 2 times"),
        (["more.py::hinge"], "no function 'hinge' in more.py"),
        (["more.py::Empty"], "no method of more.py::Empty has a body"),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_what_cannot_be_masked_is_said_before_anything_is_written(
    targets: list[str], message: str, task: Task
) -> None:
    write(task, "box.py", CLASS)
    write(task, "init.py", "class Box:\n    def __init__(self): self.size = 1\n")
    write(
        task,
        "more.py",
        "from pkg.losses import hinge\n"
        "def outer():\n    def inner(): return 1\n    return inner\n"
        'def documented():\n    """Only this."""\n'
        "if 1:\n    def twice(): return 1\nelse:\n    def twice(): return 2\n"
        "class Empty:\n    def f(self): pass\n",
    )
    before = tree(task.root)
    with pytest.raises(TargetError) as error:
        masked(task, *targets)
    assert message in error.value.message
    assert error.value.hint
    if targets == ["box.py::Box"]:
        assert "'box.py::Box.area#1' 'box.py::Box.area#2' box.py::Box.put" in error.value.hint
        assert error.value.hint.endswith("box.py::Box.__init__"), "a constructor is hardly ever meant"
    assert tree(task.root) == before


def test_a_function_around_a_masked_one_is_refused(task: Task) -> None:
    write(task, "more.py", "def outer():\n    def inner(): return 1\n    return inner\n")
    masked(task, "more.py::outer.inner")
    with pytest.raises(TargetError, match=r"outer\.inner lies inside outer, which is masked too"):
        masked(task, "more.py::outer")


def test_several_of_one_name_each_have_their_own_notes_and_are_restored_one_by_one(task: Task) -> None:
    path = write(task, "box.py", CLASS)
    first, second = "box.py::Box.area#1", "box.py::Box.area#2"
    said = {name: FunctionNotes(notes=MaskNotes(f"Do {name[-1]}.")) for name in (first, second)}
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


def test_targets_in_several_files_at_once(task: Task) -> None:
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


def test_a_number_that_unmasking_left_free_is_taken_by_the_next_function(tmp_path: Path) -> None:
    """The finding says so, and does not send the annotator to rename files by hand."""
    task = make_task(tmp_path)
    for target in ("pkg/losses.py::hinge", "pkg/losses.py::Meter.add"):
        mask(task, MaskOptions((target,)), task.root)
    unmask(task, "pkg/losses.py::hinge", task.root)

    (gap,) = validate([task], select_checks(["LMR009"])).findings
    assert "`lmr-author mask` numbers the next function 1" in gap.hint

    mask(task, MaskOptions(("pkg/losses.py::Meter.each",)), task.root)
    assert not validate([task], select_checks(["LMR009"])).findings


def test_a_name_without_a_file_is_enough_where_one_function_has_it(task: Task) -> None:
    write(task, "layers.py", "class Linear:\n    def forward(self): return 1\n")
    write(task, "more.py", "class Embedding:\n    def forward(self): return 1\n")
    with pytest.raises(TargetError) as error:
        masked(task, "forward")
    assert error.value.hint.count("::") == 2
    (one,) = masked(task, "Linear.forward").implementations
    assert str(one.target) == "layers.py::Linear.forward"
    assert unmask(task, "Linear.forward", task.root).targets == ("layers.py::Linear.forward",)


def test_a_body_that_raises_by_itself_is_not_taken_for_a_mask(task: Task) -> None:
    """`raise NotImplementedError` in the golden too: nothing to mask, before and after its file is."""
    write(task, "box.py", CLASS)
    masked(task, "box.py::Box.put")
    with pytest.raises(TargetError, match="nothing to mask"):
        masked(task, "box.py::Box.later")

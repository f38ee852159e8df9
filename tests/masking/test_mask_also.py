"""Look-alikes are masked together with a target and restored with it; those that are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.authoring.masking import unmask
from lmr_author.core import files
from lmr_author.core.errors import LmrError, TargetError, UsageError
from lmr_author.core.task import Task
from lmr_author.proof.validation.run import select_checks, validate
from lmr_author.runtime.replay import staging
from tests.masking.masks import ADD, HINGE, LEGACY, content, masked, recorded, repository
from tests.support import LOSSES, make_task

OLD = ("legacy.py::OldMeter.add",)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A small task with a file of look-alikes."""
    task = make_task(tmp_path)
    (repository(task) / "legacy.py").write_bytes(LEGACY)
    return task


def codes(task: Task) -> set[str]:
    return {item.code for item in validate([task], select_checks(["LMR3", "LMR4"])).findings}


@pytest.mark.parametrize("damaged", ["{", "[]", '{"also": [{"path": "legacy.py"}]}'])
def test_a_damaged_record_of_look_alikes_is_not_written_over(task: Task, damaged: str) -> None:
    masked(task, ADD, also=OLD)
    files.write_text(task.also_masked_path, damaged)
    before = content(task)
    with pytest.raises(LmrError, match=r"also-masked\.json"):
        masked(task, HINGE, also=OLD)
    with pytest.raises(LmrError, match=r"also-masked\.json"):
        unmask(task, None, task.root)
    assert content(task) == before
    assert task.also_masked_path.read_text() == damaged


def test_a_look_alike_is_emptied_with_the_target_and_restored_with_it(task: Task) -> None:
    before = content(task)

    result = masked(task, ADD, also=OLD)

    assert [item.node_id for item in result.also] == ["legacy.py::OldMeter.add"]
    assert result.leaks == ()
    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "authoring/originals/legacy.py")]
    assert [str(item.target) for item in task.load().implementations] == [ADD]
    text = (repository(task) / "legacy.py").read_bytes()
    assert b"fsum" not in text and text.count(b"raise NotImplementedError") == 1
    assert b"yield value * self.size" in text and text.count(b"\r\n") == text.count(b"\n")
    assert "LMR403" not in codes(task)

    done = unmask(task, None, task.root)

    assert done.also == OLD
    assert content(task) == before
    assert not task.also_masked_path.exists()
    assert not list(files.walk(task.originals))


def test_nothing_is_restored_while_a_golden_is_missing(task: Task) -> None:
    masked(task, ADD, also=OLD)
    golden = task.root / "golden_files" / "losses_golden.py"
    golden.rename(golden.with_suffix(".away"))
    before, record = content(task), recorded(task)
    with pytest.raises(LmrError, match=r"losses_golden\.py is missing"):
        unmask(task, None, task.root)
    assert content(task) == before and recorded(task) == record


def test_a_look_alike_is_restored_by_its_own_name(task: Task) -> None:
    before = content(task)
    masked(task, ADD, also=("legacy.py::OldMeter.add", "legacy.py::OldMeter.each"))
    assert b"yield  #" in content(task)["legacy.py"], "a generator stays one"
    done = unmask(task, "legacy.py::OldMeter.add", task.root)
    assert (done.targets, done.also) == ((), OLD)
    assert [name for name, _, _ in recorded(task)] == ["legacy.py::OldMeter.each"]
    assert (
        b"fsum" in content(task)["legacy.py"] and b"yield value * self.size" not in content(task)["legacy.py"]
    )
    unmask(task, None, task.root)
    assert content(task) == before


def test_it_can_follow_in_a_later_command_and_finds_its_target(task: Task) -> None:
    before = content(task)
    first = masked(task, HINGE, ADD)
    assert [leak.also for leak in first.leaks] == [OLD]

    assert masked(task, also=first.leaks[0].also).leaks == ()

    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "authoring/originals/legacy.py")]
    unmask(task, HINGE, task.root)
    assert len(recorded(task)) == 1
    unmask(task, ADD, task.root)
    assert content(task) == before


def test_a_look_alike_in_the_goal_file(task: Task) -> None:
    masked(task, HINGE, also=(ADD,))

    assert recorded(task) == [(ADD, HINGE, "authoring/originals/pkg/losses.py")]
    assert (task.root / "golden_files" / "losses_golden.py").read_bytes() == LOSSES
    assert "LMR304" not in codes(task)
    golden = staging.golden_overlay(task, task.load())["pkg/losses.py"]
    assert b"return gap" in golden and b"fsum" not in golden
    unmask(task, HINGE, task.root)
    assert content(task)["pkg/losses.py"] == LOSSES


def test_a_file_with_a_look_alike_can_become_a_goal_file(task: Task) -> None:
    """The golden is the file as it was before the look-alike was emptied."""
    before = content(task)
    masked(task, ADD, also=OLD)

    masked(task, "legacy.py::unrelated")

    assert (task.root / "golden_files" / "legacy_golden.py").read_bytes() == LEGACY
    unmask(task, "legacy.py::unrelated", task.root)
    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "authoring/originals/legacy.py")]
    assert b"sorted(names" in content(task)["legacy.py"] and b"fsum" not in content(task)["legacy.py"]
    unmask(task, ADD, task.root)
    assert content(task) == before


def test_an_edited_look_alike_is_not_lost(task: Task) -> None:
    masked(task, ADD, also=OLD)
    place = repository(task) / "legacy.py"
    place.write_bytes(b"MINE = 1\n")
    with pytest.raises(TargetError, match="was edited where a look-alike was masked"):
        unmask(task, None, task.root)
    assert place.read_bytes() == b"MINE = 1\n"
    unmask(task, None, task.root, force=True)
    assert place.read_bytes() == LEGACY
    assert (task.authoring / "removed" / "small-repo" / "legacy.py").read_bytes() == b"MINE = 1\n"


def test_a_look_alike_of_a_target_that_was_never_entered_is_restored_with_any(task: Task) -> None:
    """A command was killed after the look-alike, and another target was masked instead."""
    masked(task, ADD, also=OLD)
    [entry] = task.also_masked()
    task.save_also_masked([replace(entry, target="gone.py::f")])
    assert unmask(task, ADD, task.root).also == OLD
    assert content(task)["legacy.py"] == LEGACY


# refused


@pytest.mark.parametrize(
    ("also", "message", "hint"),
    [
        (ADD, "is a target", "elsewhere"),
        ("legacy.py::OldMeter.ad", "no function", "did you mean legacy.py::OldMeter.add"),
        ("legaci.py::OldMeter.add", "no file", "did you mean legacy.py::OldMeter.add"),
        ("legacy.py::OldMeter", "is a class", "legacy.py::OldMeter.add legacy.py::OldMeter.each"),
    ],
)
def test_what_is_refused(task: Task, also: str, message: str, hint: str) -> None:
    before = content(task)
    with pytest.raises(TargetError) as error:
        masked(task, ADD, also=(also,))
    assert message in error.value.message and hint in error.value.hint
    assert content(task) == before
    assert not task.also_masked_path.exists() and not list(files.walk(task.golden_folder))


def test_without_anything_masked_there_is_nothing_to_look_like(task: Task) -> None:
    with pytest.raises(UsageError, match="nothing is masked"):
        masked(task, also=OLD)


def test_a_look_alike_given_twice_masked_already_or_around_another(task: Task) -> None:
    with pytest.raises(TargetError, match="given twice"):
        masked(task, ADD, also=OLD * 2)
    (repository(task) / "nested.py").write_bytes(
        b"def f(x):\n    def g(y):\n        return y\n    return g(x)\n"
    )
    with pytest.raises(TargetError, match="lies inside"):
        masked(task, "nested.py::f.g", also=("nested.py::f",))
    masked(task, ADD, also=OLD)
    with pytest.raises(TargetError, match=r"already masked, along with pkg/losses\.py::Meter\.add"):
        masked(task, HINGE, also=OLD)


def test_surely_leaking_generated_files_are_taken_out_and_put_back(task: Task) -> None:
    for name, data in {
        "site-packages/pkg/losses.py": LOSSES,
        "dist/__init__.py": b"",
        "dist/losses.py": LOSSES,
    }.items():
        (repository(task) / name).parent.mkdir(parents=True, exist_ok=True)
        (repository(task) / name).write_bytes(data)
    before = content(task)

    result = masked(task, ADD)

    assert result.moved == ("site-packages/pkg/losses.py",)
    assert [leak.finding.path for leak in result.leaks] == [
        "small-repo/dist/losses.py",
        "small-repo/legacy.py",
    ]
    done = unmask(task, None, task.root)
    assert set(done.put_back) == {"site-packages/pkg/losses.py"}
    assert content(task) == before

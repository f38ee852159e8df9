"""Look-alikes are masked along with a target and restored with it."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from lmr_author import files
from lmr_author.errors import LmrError, TargetError
from lmr_author.masking import unmask
from lmr_author.replay import staging
from lmr_author.task import Task, also_masked
from lmr_author.validation.run import select_checks, validate_task
from tests.masking.also.look_alikes import ADD, HINGE, LEGACY, content, recorded, repository, run
from tests.support import LOSSES

EACH = "pkg/losses.py::Meter.each"


def codes(task: Task) -> set[str]:
    return {item.code for item in validate_task(task, select_checks(["LMR3", "LMR4"])).findings}


@pytest.mark.parametrize("damaged", ["{", "[]", '{"also": [{"path": "legacy.py"}]}'])
def test_a_damaged_record_of_look_alikes_is_not_written_over(task: Task, damaged: str) -> None:
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    files.write_text(task.also_masked_path, damaged)
    before = content(task)
    with pytest.raises(LmrError, match=r"also-masked\.json"):
        run(task, HINGE, also=("legacy.py::OldMeter.add",))
    with pytest.raises(LmrError, match=r"also-masked\.json"):
        unmask(task, None, task.root)
    assert content(task) == before
    assert task.also_masked_path.read_text() == damaged


def test_a_look_alike_is_emptied_with_the_target_and_restored_with_it(task: Task) -> None:
    before = content(task)

    result = run(task, ADD, also=("legacy.py::OldMeter.add",))

    assert [item.node_id for item in result.also] == ["legacy.py::OldMeter.add"]
    assert result.leaks == ()
    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "authoring/originals/legacy.py")]
    assert [str(item.target) for item in task.load().implementations] == [ADD]
    masked = (repository(task) / "legacy.py").read_bytes()
    assert b"fsum" not in masked and masked.count(b"raise NotImplementedError") == 1
    assert b"yield value * self.size" in masked and masked.count(b"\r\n") == masked.count(b"\n")
    assert "LMR403" not in codes(task)

    done = unmask(task, None, task.root)

    assert done.also == ("legacy.py::OldMeter.add",)
    assert content(task) == before
    assert not task.also_masked_path.exists()
    assert not list(files.walk(task.originals))


def test_nothing_is_restored_while_a_golden_is_missing(task: Task) -> None:
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    golden = task.root / "golden_files" / "losses_golden.py"
    golden.rename(golden.with_suffix(".away"))
    before, record = content(task), recorded(task)
    with pytest.raises(LmrError, match=r"losses_golden\.py is missing"):
        unmask(task, None, task.root)
    assert content(task) == before and recorded(task) == record


def test_a_look_alike_is_restored_by_its_own_name(task: Task) -> None:
    before = content(task)
    run(task, ADD, also=("legacy.py::OldMeter.add", "legacy.py::OldMeter.each"))
    done = unmask(task, "legacy.py::OldMeter.add", task.root)
    assert (done.targets, done.also) == ((), ("legacy.py::OldMeter.add",))
    assert [name for name, _, _ in recorded(task)] == ["legacy.py::OldMeter.each"]
    assert (
        b"fsum" in content(task)["legacy.py"] and b"yield value * self.size" not in content(task)["legacy.py"]
    )
    unmask(task, None, task.root)
    assert content(task) == before


def test_it_can_follow_in_a_later_command_and_finds_its_target(task: Task) -> None:
    before = content(task)
    first = run(task, HINGE, ADD)
    assert [leak.also for leak in first.leaks] == [("legacy.py::OldMeter.add",)]

    assert run(task, also=first.leaks[0].also).leaks == ()

    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "authoring/originals/legacy.py")]
    unmask(task, HINGE, task.root)
    assert len(recorded(task)) == 1
    unmask(task, ADD, task.root)
    assert content(task) == before


def test_kinds_are_kept(task: Task) -> None:
    run(task, ADD, also=("legacy.py::OldMeter.add", "legacy.py::OldMeter.each"))
    tree = ast.parse((repository(task) / "legacy.py").read_bytes())
    [each] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "each"]
    assert any(isinstance(node, ast.Yield) for node in ast.walk(each))
    assert [name for name, _, _ in recorded(task)] == ["legacy.py::OldMeter.add", "legacy.py::OldMeter.each"]
    unmask(task, None, task.root)
    assert (repository(task) / "legacy.py").read_bytes() == LEGACY


def test_a_look_alike_in_the_goal_file(task: Task) -> None:
    run(task, HINGE, also=(ADD,))

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
    run(task, ADD, also=("legacy.py::OldMeter.add",))

    run(task, "legacy.py::unrelated")

    assert (task.root / "golden_files" / "legacy_golden.py").read_bytes() == LEGACY
    unmask(task, "legacy.py::unrelated", task.root)
    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "authoring/originals/legacy.py")]
    assert b"sorted(names" in content(task)["legacy.py"] and b"fsum" not in content(task)["legacy.py"]
    unmask(task, ADD, task.root)
    assert content(task) == before


def test_an_edited_look_alike_is_not_lost(task: Task) -> None:
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    place = repository(task) / "legacy.py"
    place.write_bytes(b"MINE = 1\n")
    with pytest.raises(TargetError, match="was edited where a look-alike was masked"):
        unmask(task, None, task.root)
    assert place.read_bytes() == b"MINE = 1\n"
    unmask(task, None, task.root, force=True)
    assert place.read_bytes() == LEGACY
    assert (task.authoring / "removed" / "small-repo" / "legacy.py").read_bytes() == b"MINE = 1\n"


def test_a_look_alike_that_an_older_version_recorded_has_its_original_in_the_golden(task: Task) -> None:
    run(task, HINGE, also=(ADD,))
    [entry] = also_masked.load(task)
    also_masked.save(task, [replace(entry, original="", target=EACH)])
    (task.root / "authoring/originals/pkg/losses.py").unlink()
    run(task, EACH)
    unmask(task, HINGE, task.root)
    unmask(task, EACH, task.root)
    assert content(task)["pkg/losses.py"] == LOSSES
    assert not list(files.walk(task.golden_folder))


def test_a_look_alike_of_a_target_that_was_never_entered_is_restored_with_any(task: Task) -> None:
    """A command was killed after the look-alike, and another target was masked instead."""
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    [entry] = also_masked.load(task)
    also_masked.save(task, [replace(entry, target="gone.py::f")])
    assert unmask(task, ADD, task.root).also == ("legacy.py::OldMeter.add",)
    assert content(task)["legacy.py"] == LEGACY

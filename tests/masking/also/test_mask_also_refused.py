"""Look-alikes that are refused, given twice, or like nothing; commands that were killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.errors import TargetError, UsageError
from lmr_author.masking import unmask
from lmr_author.task import Task
from tests.masking.also.look_alikes import ADD, HINGE, content, recorded, repository, run


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
        run(task, ADD, also=(also,))
    assert message in error.value.message and hint in error.value.hint
    assert content(task) == before
    assert not task.also_masked_path.exists() and not list(files.walk(task.golden_folder))


def test_a_target_of_an_earlier_command_is_no_look_alike(task: Task) -> None:
    run(task, ADD)
    with pytest.raises(TargetError, match=r"Meter\.add is a target"):
        run(task, HINGE, also=(ADD,))


def test_without_anything_masked_there_is_nothing_to_look_like(task: Task) -> None:
    with pytest.raises(UsageError, match="nothing is masked"):
        run(task, also=("legacy.py::OldMeter.add",))


def test_a_look_alike_given_twice_masked_already_or_around_another(task: Task) -> None:
    with pytest.raises(TargetError, match="given twice"):
        run(task, ADD, also=("legacy.py::OldMeter.add",) * 2)
    (repository(task) / "nested.py").write_bytes(
        b"def f(x):\n    def g(y):\n        return y\n    return g(x)\n"
    )
    with pytest.raises(TargetError, match="lies inside"):
        run(task, "nested.py::f.g", also=("nested.py::f",))
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    with pytest.raises(TargetError, match=r"already masked, along with pkg/losses\.py::Meter\.add"):
        run(task, HINGE, also=("legacy.py::OldMeter.add",))


def test_what_is_nothing_like_a_target_is_masked_with_a_remark(task: Task) -> None:
    alike = run(task, ADD, also=("legacy.py::OldMeter.add",))
    unlike = run(task, also=("legacy.py::unrelated",))
    assert not any("is it the one you mean" in text for text in alike.remarks)
    assert any(text.startswith(f"legacy.py::unrelated has little of {ADD} (") for text in unlike.remarks)


def test_a_killed_command_is_completed_by_running_it_again(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(task)
    for killed_after in range(1, 6):
        done = []

        def write(path: Path, data: bytes, after: int = killed_after, done: list[Path] = done) -> None:
            if len(done) == after:
                raise KeyboardInterrupt
            done.append(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

        with monkeypatch.context() as patch:
            patch.setattr(files, "write_bytes", write)
            try:
                run(task, ADD, also=("legacy.py::OldMeter.add",))
            except KeyboardInterrupt:
                run_again = True
            else:
                run_again = False
        if run_again:
            run(task, ADD, also=("legacy.py::OldMeter.add",))
        assert len(recorded(task)) == 1 and b"fsum" not in b"".join(content(task).values())
        unmask(task, None, task.root)
        assert content(task) == before

"""What is taken out along with a target comes back."""

from __future__ import annotations

from lmr_author.masking import unmask
from lmr_author.task import Task
from tests.masking.also.look_alikes import ADD, content, repository, run
from tests.support import LOSSES


def test_surely_leaking_generated_files_are_taken_out_and_put_back(task: Task) -> None:
    for name, data in {
        "site-packages/pkg/losses.py": LOSSES,
        "dist/__init__.py": b"",
        "dist/losses.py": LOSSES,
    }.items():
        (repository(task) / name).parent.mkdir(parents=True, exist_ok=True)
        (repository(task) / name).write_bytes(data)
    before = content(task)

    result = run(task, ADD)

    assert result.cleaned.moved == ("site-packages/pkg/losses.py",)
    assert [leak.finding.path for leak in result.leaks] == [
        "small-repo/dist/losses.py",
        "small-repo/legacy.py",
    ]
    done = unmask(task, None, task.root)
    assert set(done.put_back) == {"site-packages/pkg/losses.py"}
    assert content(task) == before

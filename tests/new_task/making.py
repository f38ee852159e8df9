"""New tasks as tests make them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.authoring.new_task.new_task import NewTaskOptions, NewTaskResult, new_task
from lmr_author.core.errors import LmrError


def make(tmp_path: Path, pdf: Path, source: Path | str, **options: object) -> NewTaskResult:
    given = {"tasks_dir": tmp_path / "tasks", **options}
    return new_task(NewTaskOptions(paper=str(pdf), repo=str(source), **given))  # type: ignore[arg-type]


def refused(tmp_path: Path, pdf: Path, source: Path | str, **options: object) -> LmrError:
    """The error of a call that must fail, after checking that it left nothing."""
    before = sorted((tmp_path / "tasks").iterdir()) if (tmp_path / "tasks").exists() else []
    with pytest.raises(LmrError) as caught:
        make(tmp_path, pdf, source, **options)
    after = sorted((tmp_path / "tasks").iterdir()) if (tmp_path / "tasks").exists() else []
    assert before == after
    assert caught.value.hint
    return caught.value

"""What `env build` advises where another image was given than the Dockerfile's."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lmr_author.core.errors import SandboxBuildError
from lmr_author.runtime.environment import build as building
from tests.support import make_task

OLD = "pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime"
OWN = "me/base:1"


class Failing:
    """A sandbox whose image cannot be built, because pip finds no such version."""

    def __enter__(self) -> Failing:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left."""

    def prepare(self, _: object) -> Any:
        said = ("ERROR: No matching distribution found for numpy==2.5.5",)
        raise SandboxBuildError("it failed", "look", step="RUN pip install -r requirements.lock", said=said)


def advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, image: str | None, lock_for: str) -> Any:
    """The explanation of a failed build."""
    monkeypatch.setattr(building, "sandbox_of", lambda *_, **__: Failing())
    task = make_task(tmp_path)
    task.dockerfile.write_text("FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\n")
    task.lock.write_text(f"# for Python {lock_for}\nnumpy==2.5.5\n")
    found = building.build(task, lambda _: None, lambda _: None, base_image=image, wanted=["run.py"])
    return found.explanation or SimpleNamespace(cause="", advice="")


def test_a_lock_for_another_python_is_made_for_the_image_that_was_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = advice(monkeypatch, tmp_path / "known", OLD, "3.11")
    assert known.cause == "requirements.lock is for Python 3.11, and this image has 3.7"
    assert f"`lmr-author env dockerfile --base-image {OLD}`, then `lmr-author env lock`" in known.advice
    assert "numpy>" not in known.advice
    unknown = advice(monkeypatch, tmp_path / "unknown", OWN, "3.11").advice
    assert f"`docker run --rm {OWN} python --version`" in unknown
    assert f"env dockerfile --base-image {OWN}`, then `lmr-author env lock --python-version X.Y`" in unknown


@pytest.mark.parametrize(("image", "lock_for"), [(None, "3.11"), (OLD, "3.7")])
def test_a_lock_for_the_same_python_is_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, image: str | None, lock_for: str
) -> None:
    assert "env lock --with 'numpy>2.5.5'" in advice(monkeypatch, tmp_path, image, lock_for).advice

"""Temporary folders under interrupts that come at the worst moment."""

from __future__ import annotations

import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lmr_author import files


def interrupting(function: Any) -> Any:
    """The function, with a Ctrl-C that arrives before its work and one that arrives after."""

    def interrupted(*arguments: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        result = function(*arguments, **named)
        signal.raise_signal(signal.SIGINT)
        return result

    return interrupted


def test_it_is_removed_with_what_is_in_it(tmp_path: Path) -> None:
    with files.temporary_folder("x-", tmp_path) as folder:
        assert (folder.parent, folder.name[:2], folder.stat().st_mode & 0o777) == (tmp_path, "x-", 0o700)
        (folder / "deep" / "er").mkdir(parents=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("module", "name"), [(tempfile, "mkdtemp"), (shutil, "rmtree")])
def test_an_interrupt_leaves_nothing(
    module: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, interrupting(getattr(module, name)))
    entered = False
    with pytest.raises(KeyboardInterrupt), files.temporary_folder("x-", tmp_path) as folder:
        entered = True
        (folder / "file").write_text("")
    assert entered == (name == "rmtree")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("module", "name"), [(tempfile, "mkdtemp"), (shutil, "rmtree")])
def test_a_staged_folder_that_fails_under_interrupts(
    module: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, interrupting(getattr(module, name)))
    with pytest.raises(KeyboardInterrupt), files.staged_folder(tmp_path / "new" / "final"):
        raise ValueError("the work fails")
    assert list(tmp_path.iterdir()) == []

"""Lines on a terminal: wrapped at words, and the progress line."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from lmr_author.cli import ui


def _shown(message: str, seconds: float, monkeypatch: pytest.MonkeyPatch, width: int = 40) -> str:
    monkeypatch.setattr(ui.time, "monotonic", lambda: 1000.0 + seconds)
    screen = Console(file=io.StringIO(), width=width, color_system=None)
    screen.print(ui.Doing(message, 1000.0))
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue().rstrip("\n")


@pytest.mark.parametrize(
    ("seconds", "waited"),
    [(0, ""), (4.9, ""), (5, " 0:05"), (59.9, " 0:59"), (75, " 1:15"), (3661, " 61:01")],
)
def test_the_time_is_told_after_a_while(seconds: float, waited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown("mutant 3 of 40", seconds, monkeypatch) == f"mutant 3 of 40{waited}"


def test_what_is_too_long_is_cut_visibly_and_keeps_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _shown("installing " + "torch " * 40, 75, monkeypatch)

    assert len(shown) == 40 and shown.startswith("installing torch") and shown.endswith("\u2026 1:15")


def test_brackets_and_line_breaks_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown("  reading [bold]\n setup.py ", 0, monkeypatch) == "reading [bold] setup.py"


def test_lines_hang_and_no_word_is_broken() -> None:
    path = "a/very/long/path/" + "x" * 40
    lines = ui.wrapped(f"  golden       {path} and some words more, by-and-by", 40, 15)
    assert lines[1:] == [f"{'':15}{path}", f"{'':15}and some words more,", f"{'':15}by-and-by"]
    assert lines[0].strip() == "golden"


def test_a_command_to_paste_is_quoted_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    ui.then("mask", "a b.py::f", "--task", "x" * 200)
    assert capsys.readouterr().err == f"next: lmr-author mask 'a b.py::f' --task {'x' * 200}\n"

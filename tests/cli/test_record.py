"""``lmr-author record`` as it is typed: what drives the target, and mistakes in that."""

from __future__ import annotations

import platform

import pytest

from lmr_author.authoring.recording.record import not_stored
from lmr_author.core.task import Task
from lmr_author.core.task.recording import Case
from tests.cli.conftest import HINGE
from tests.cli.program import lmr_forked, succeed
from tests.evaluation.foreign import PLAIN_PYTHON


@pytest.mark.bwrap
def test_a_large_call_says_how_much_to_cut(masked: Task) -> None:
    (masked.root / "small-repo/large.py").write_text(
        "from pkg.losses import hinge\ntry:\n    hinge('x' * 10_000_000)\nexcept TypeError:\n    pass\n"
    )
    ended = lmr_forked("record", HINGE, "--python", PLAIN_PYTHON, "--", "python", "large.py", cwd=masked.root)
    assert ended.code == 3
    assert "larger than the limit: x: " in ended.err and "slice the batch in the driver" in ended.err


@pytest.mark.bwrap
def test_a_golden_that_raises_in_every_case_is_told(masked: Task) -> None:
    driver = "from pkg.losses import hinge\ntry:\n    hinge('no number')\nexcept TypeError:\n    pass\n"
    (masked.root / "small-repo/wrong.py").write_text(driver)
    words = ("record", HINGE, "--python", PLAIN_PYTHON, "--", "python", "wrong.py")
    done = succeed(*words, cwd=masked.root)
    assert "the golden raises in every case" in done.err


FATAL = "from pkg.losses import hinge\n"


@pytest.mark.bwrap
@pytest.mark.parametrize(
    ("driver", "code"),
    [
        ('hinge("text")\n', 3),
        ('try:\n    hinge("a")\nexcept TypeError:\n    pass\nhinge(1.0, 0.5)\nhinge("a")\n', 0),
    ],
    ids=["uncaught", "beside one that returns"],
)  # fmt: skip
def test_a_command_that_dies_of_what_the_golden_raises(masked: Task, driver: str, code: int) -> None:
    (masked.root / "small-repo/fatal.py").write_text(FATAL + driver)
    ended = lmr_forked("record", HINGE, "--python", PLAIN_PYTHON, "--", "python", "fatal.py", cwd=masked.root)
    assert ended.code == code, ended.err
    refused = "raised in every call, which ended the command: TypeError: " in ended.err
    assert refused == bool(code) and ("catch the exception in the driver" in ended.err) == refused
    assert (masked.root / "small-repo/unit_test/unit_test_1.py").exists() != refused
    left_out = "is left out: its exception ended the command" in ended.err
    assert left_out == (not code and driver.endswith('hinge("a")\n'))


@pytest.mark.bwrap
def test_the_command_and_its_python_are_named(masked: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(masked.root.parent / "cache"))
    (masked.root / "small-repo/fail.py").write_text(
        "from pkg.losses import hinge\nfor x in (0.5, 2.0, -1.0): hinge(x, margin=1.5)\nrange(3).missing\n"
    )
    done = succeed("record", "--", "python", "fail.py", cwd=masked.root)
    first, *_, _ = done.err.splitlines()
    assert first.startswith(f"recording with lmr-author's own Python {platform.python_version()} (")
    assert "create one with `lmr-author env local`" in first
    assert "exit code 1: AttributeError: 'range' object has no attribute 'missing'" in done.err
    where = ("--task", masked.root, "--python", PLAIN_PYTHON)
    named = succeed("record", "--force", *where, "--", "python", "fail.py", cwd=masked.root)
    assert "own Python" not in named.err
    evaluate = f"lmr-author evaluate --python {PLAIN_PYTHON} {masked.root}"
    assert f"next: lmr-author validate {masked.root} && {evaluate}\n" in named.err


ENCODER = {"path": "self._modules['encoder']", "type": "Encoder"}
LOCK = {"path": "pool._lock", "type": "_thread.lock"}


def case(number: int, *omitted: dict[str, str]) -> Case:
    """A case without these parts."""
    return Case(f"case_{number}", number, 10, {}, {}, "returned", omitted=omitted)


def test_parts_that_are_not_stored_are_named_with_what_builds_them() -> None:
    assert not_stored([case(1)]) == []
    assert not_stored([case(1, {"path": "self._lock", "type": "Lock"})]) == ["not stored: self._lock (Lock)"]
    first, second, last = not_stored([case(1, ENCODER, LOCK), case(2, ENCODER)])
    assert (first, second) == (
        "not stored: self.encoder (Encoder)",
        "not stored in case_1: pool._lock (_thread.lock)",
    )
    assert last.startswith(
        "if the function needs it, define a fixture that builds it in unit_test/fixtures.py in the repository: "
    )
    assert "`def encoder(): return ...`, `def pool(): return ...`" in last
    many = not_stored([case(1, *({"path": f"self.part{number}", "type": "Part"} for number in range(5)))])
    assert "and 2 more parts; recording.json lists them" in many and "self.part4" not in "".join(many)

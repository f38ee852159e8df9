"""Each kind of value: the golden and a right rewrite pass, a wrong version fails."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from lmr_author.authoring.recording.checkers import compact
from lmr_author.authoring.recording.tolerance import derive
from lmr_author.runtime.probe.calling import MODE
from lmr_author.runtime.probe.checking import from_bytes, load, to_bytes
from lmr_author.runtime.probe.compare import compare
from lmr_author.runtime.probe.document import Document
from lmr_author.runtime.probe.encoding import encode
from lmr_author.runtime.probe.outcome import Inputs
from lmr_author.runtime.probe.repeating import repeat
from lmr_author.runtime.probe.storing import dump
from lmr_author.runtime.probe.watching import mode
from tests.probe.kinds import KINDS, Kind
from tests.probe.test_agreement import shipped

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
SECONDS = 30


class TooLateError(BaseException):
    """No code that catches every Exception goes on after it."""


def too_late(*_: Any) -> None:
    raise TooLateError(f"more than {SECONDS} seconds")


def record(kind: Kind, folder: Path) -> None:
    arguments = kind.arguments()
    with kind.within():
        inputs, modes = encode(arguments), mode()
        outcome = Inputs(arguments, inputs).ended(kind.golden, {"value": kind.golden(**arguments)})
    if modes:
        inputs.tree[MODE] = encode(modes).tree
    dump(inputs, str(folder), "inputs")
    dump(outcome, str(folder), "expected")


def outcome(version: Any, folder: Path) -> Document:
    made = repeat(lambda free: version, load(str(folder), "inputs"), Inputs)
    assert made.document is not None, (made.status, made.error)
    return from_bytes(to_bytes(made.document))


def verdicts(kind: Kind, folder: Path) -> tuple[dict[str, list[str]], Any]:
    """Return the differences of each version, as an evaluation finds them, and how the parts are compared."""
    record(kind, folder)
    expected = load(str(folder), "expected")
    checkers = compact(derive(expected, [outcome(kind.golden, folder)]).checkers)
    versions = {"golden": kind.golden, "right": kind.right, "wrong": kind.wrong}
    found = {
        name: [str(item) for item in compare(expected, outcome(version, folder), checkers)]
        for name, version in versions.items()
    }
    return found, checkers


@pytest.mark.parametrize("name", KINDS)
def test_right_versions_pass_and_wrong_ones_fail(name: str, tmp_path: Path) -> None:
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(SECONDS)
    try:
        found, checkers = verdicts(KINDS[name], tmp_path)
    finally:
        signal.alarm(0)
    assert found["golden"] == [] and found["right"] == []
    assert found["wrong"] != []
    for version, differing in found.items():
        assert shipped(getattr(KINDS[name], version), tmp_path, checkers) == (not differing), version

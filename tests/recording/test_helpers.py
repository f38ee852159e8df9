"""Objects that cannot be stored are built by fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.masking import MaskOptions, mask
from lmr_author.probe.document import Document
from lmr_author.probe.encoding import encode
from lmr_author.recording import helpers
from lmr_author.recording.record import RecordOptions, record
from lmr_author.replay import replaying
from lmr_author.task import Task
from lmr_author.task import recording as recorded
from tests.evaluation.foreign import PLAIN_PYTHON
from tests.recording.helped import RUN, failed_gates, masked_and_recorded

FIXTURES = '''\
import os
import random

from pkg.words import Counter, Tokenizer


def counter():
    """One word counted, at random."""
    made = Counter()
    made.seen["c"] = random.randint(1, 10**9)
    return made


def tokenizer():
    """As the driver makes it."""
    return Tokenizer("the cat sat on a mat".split())
'''


@pytest.mark.bwrap
@pytest.mark.parametrize("target", ["pkg/words.py::first", "pkg/words.py::Reader.longest"])
def test_an_object_that_cannot_be_stored_is_built(task: Task, target: str) -> None:
    if target.endswith("first"):
        with pytest.raises(LmrError) as caught:
            masked_and_recorded(task, target)
        assert "tokenizer.lock (_thread.lock) could not be stored" in str(caught.value.hint)
        assert "`def lock(): …`" in str(caught.value.hint)
    beside = task.root / "small-repo/unit_test"
    (beside / "fixtures.py").write_text(FIXTURES)
    result = masked_and_recorded(task, target)
    assert list(result.recording.helpers) == ["fixtures.py"]
    inputs = replaying.load_document(beside / "recordings/1/case_1", "inputs")
    assert helpers.uses_fixtures(inputs)
    assert inputs.omitted == ()
    test = (beside / "unit_test_1.py").read_text()
    assert "fixtures=HERE / 'fixtures.py'" in test
    assert failed_gates(task) == []
    (beside / "fixtures.py").write_text(FIXTURES.replace("the cat", "cat the"))
    assert any(line.startswith("untampered: ") and "fixtures.py" in line for line in failed_gates(task))
    (beside / "fixtures.py").unlink()
    with pytest.raises(LmrError, match=r"fixtures\.py is missing"):
        recorded.helper(beside / "recordings/1", result.recording, recorded.FIXTURES)


@pytest.mark.bwrap
def test_the_driver_may_build_the_same_object(task: Task) -> None:
    (task.root / "small-repo/unit_test/fixtures.py").write_text(FIXTURES)
    run = RUN.replace(
        'tokenizer = Tokenizer("the cat sat on a mat".split())', "tokenizer = fixtures.tokenizer()"
    )
    (task.root / "small-repo/words_run.py").write_text(f"from unit_test import fixtures\n{run}")

    result = masked_and_recorded(task, "pkg/words.py::first")

    assert result.recording.cases[0].summary["tokenizer"] == "the fixture tokenizer"
    assert failed_gates(task) == []


@pytest.mark.bwrap
def test_an_example_may_call_a_fixture(task: Task) -> None:
    (task.root / "small-repo/unit_test/fixtures.py").write_text(FIXTURES)
    mask(task, MaskOptions(("pkg/words.py::first",)), task.root)
    examples = ("first('mat cat', tokenizer())", "first('', tokenizer(), scale=3.0)")
    result = record(
        task,
        RecordOptions(None, (), examples=examples, vary=True, python=PLAIN_PYTHON),
        task.root,
        lambda _: None,
    )
    assert result.recording.coverage.missed == ()
    assert result.recording.cases[0].summary["tokenizer"] == "the fixture tokenizer"


def test_a_recording_depends_on_the_helpers_that_its_cases_need(tmp_path: Path) -> None:
    (tmp_path / "fixtures.py").write_text("def tokenizer():\n    return 1\n")
    (tmp_path / "checkers.py").write_text("def close(expected, actual):\n    return True\n")
    found = helpers.read(tmp_path)
    plain = encode({"x": 1})
    built = Document({"x": {"$": "fixture", "v": "tokenizer"}}, {})
    exact, custom = {"value": {"kind": "exact"}}, {"value": {"kind": "custom", "function": "close"}}
    assert helpers.digests(found, [plain], [exact]) == {}
    assert helpers.digests(found, [plain, built], [exact]) == {
        "fixtures.py": files.sha256_file(tmp_path / "fixtures.py")
    }
    assert helpers.digests(found, [plain], [exact, custom]).keys() == {"checkers.py"}
    assert helpers.digests(helpers.NO_HELPERS, [built], [custom]) == {}

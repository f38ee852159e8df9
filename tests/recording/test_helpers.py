"""What the annotator writes beside the tests: objects that are built, and parts that a function compares."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lmr_author import files, recorded, replaying
from lmr_author.errors import LmrError
from lmr_author.evaluation.candidates.score import Outcome
from lmr_author.model import GateStatus
from lmr_author.probe.codec import encode
from lmr_author.probe.document import Document
from lmr_author.probe.fixtures import Fixtures
from lmr_author.probe.leaves import walk
from lmr_author.recording import helpers
from lmr_author.taskdir import TaskDir
from lmr_author.workflow.candidates import CandidateOptions, score
from lmr_author.workflow.evaluate import EvaluateOptions, evaluate
from lmr_author.workflow.mask import MaskOptions, mask
from lmr_author.workflow.record import RecordOptions, RecordResult, record
from tests.evaluation.foreign import PLAIN_PYTHON
from tests.support import make_task

WORDS = '''\
import threading


class Tokenizer:
    """Holds what cannot be stored."""

    def __init__(self, words):
        self.words = words
        self.lock = threading.Lock()

    def __reduce__(self):
        raise TypeError("cannot pickle a tokenizer")

    def ids(self, text):
        with self.lock:
            return [self.words.index(word) for word in text.split()]


class Counter:
    """Counts words; holds what cannot be stored, too."""

    def __init__(self):
        self.seen = {}
        self.lock = threading.Lock()

    def __reduce__(self):
        raise TypeError("cannot pickle a counter")


def count(words, counter, twice=False):
    """Count words, each once or twice."""
    for word in words:
        counter.seen[word] = counter.seen.get(word, 0) + 1 + twice
    return len(words)


class Reader:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def longest(self, texts):
        """The longest of some texts, by tokens, and its tokens."""
        found = [self.tokenizer.ids(text) for text in texts]
        best = max(found, key=len)
        return best, self.tokenizer


def first(text, tokenizer, scale=1.0):
    """The first token of a text, scaled."""
    ids = tokenizer.ids(text)
    return ids[0] * scale if ids else -1.0


def direction(values):
    """A unit vector along some values; which way is not said."""
    norm = sum(value * value for value in values) ** 0.5
    return {"axis": [-value / norm for value in values], "norm": norm}
'''
RUN = """\
from pkg.words import Counter, Reader, Tokenizer, count, direction, first

tokenizer = Tokenizer("the cat sat on a mat".split())
for text in ("cat sat", "mat the", "on", ""):
    first(text, tokenizer, scale=2.0)
reader = Reader(tokenizer)
reader.longest(["the cat", "a", "mat on mat"])
reader.longest(["sat"])
counter = Counter()
for words in (["a", "b", "a"], ["c"], []):
    count(words, counter)
    count(words, counter, twice=True)
for values in ([3.0, 4.0], [1.0, 2.0, 2.0], [5.0]):
    direction(values)
"""
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
CHECKERS = '''\
def up_to_sign(expected, actual):
    """An axis has no direction."""
    print("whatever a checker prints")
    if len(expected) != len(actual):
        return "another number of values"
    for sign in (1, -1):
        if all(abs(e - sign * a) < 1e-9 for e, a in zip(expected, actual)):
            return True
    return False
'''
DIRECTION = "pkg/words.py::direction"


@pytest.fixture
def task(tmp_path: Path) -> TaskDir:
    made = make_task(tmp_path)
    root = made.root / "small-repo"
    (root / "pkg/words.py").write_text(WORDS)
    (root / "words_run.py").write_text(RUN)
    return made


def masked_and_recorded(task: TaskDir, target: str, **options: object) -> RecordResult:
    if not task.load().implementations:
        mask(task, MaskOptions((target,), category="Evaluation Metrics"), task.root)
    chosen = RecordOptions(target, ("python", "words_run.py"), python=PLAIN_PYTHON, **options)  # type: ignore[arg-type]
    return record(task, chosen, task.root, lambda _: None)


def failed_gates(task: TaskDir) -> list[str]:
    """The gates that fail; without the one that tries mutants, which takes longest."""
    options = EvaluateOptions(python=PLAIN_PYTHON, mutants=0)
    result = evaluate(task, options, lambda _: None, lambda _: None)
    gates = [gate for gate in result.gates if gate.gate != "mutants-die"]
    return [f"{gate.gate}: {gate.message}" for gate in gates if gate.status is not GateStatus.PASSED]


@pytest.mark.bwrap
def test_what_a_call_does_to_an_object_that_is_built_is_compared(task: TaskDir) -> None:
    beside = task.root / "small-repo/unit_test"
    (beside / "fixtures.py").write_text(FIXTURES)
    result = masked_and_recorded(task, "pkg/words.py::count")
    changes = {}
    for case in result.recording.cases:
        expected = replaying.load_document(beside / "recordings/1" / case.name, "expected")
        changes[case.call] = [path for path, _ in walk(expected) if path.startswith("@fixture counter.seen")]
    counted = [path.rpartition("[")[2] for path in changes[1] if "[" in path]
    assert counted == ["'c']", "'a']", "'b']"]
    missed = set(result.proof.noticed.missed)
    assert len(missed) < 0.2 * len(result.proof.noticed.tried), "of a count, only its length is returned"
    assert failed_gates(task) == []


@pytest.mark.bwrap
def test_an_object_that_is_never_built_alike_may_go_unchecked(task: TaskDir) -> None:
    made = FIXTURES.replace("random.randint(1, 10**9)", "int.from_bytes(os.urandom(4), 'big')")
    (task.root / "small-repo/unit_test/fixtures.py").write_text(made)
    result = masked_and_recorded(task, "pkg/words.py::count")
    assert {case.call for case in result.recording.cases} == {5, 6}, "these count no words"
    assert "--check '@fixture counter=ignore'" in result.proof.rejected[0].reason
    checks = ("@fixture counter=ignore",)
    result = masked_and_recorded(task, "pkg/words.py::count", checks=checks, force=True)
    assert {case.call for case in result.recording.cases} & {1, 2, 3, 4}
    assert failed_gates(task) == []


@pytest.mark.bwrap
@pytest.mark.parametrize("target", ["pkg/words.py::first", "pkg/words.py::Reader.longest"])
def test_an_object_that_cannot_be_stored_is_built(task: TaskDir, target: str) -> None:
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
def test_the_driver_may_build_the_same_object(task: TaskDir) -> None:
    (task.root / "small-repo/unit_test/fixtures.py").write_text(FIXTURES)
    run = RUN.replace(
        'tokenizer = Tokenizer("the cat sat on a mat".split())', "tokenizer = fixtures.tokenizer()"
    )
    (task.root / "small-repo/words_run.py").write_text(f"from unit_test import fixtures\n{run}")

    result = masked_and_recorded(task, "pkg/words.py::first")

    assert result.recording.cases[0].summary["tokenizer"] == "the fixture tokenizer"
    assert failed_gates(task) == []


@pytest.mark.bwrap
def test_an_example_may_call_a_fixture(task: TaskDir) -> None:
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
    built = Document({"$": "dict", "v": [["x", {"$": "fixture", "name": "tokenizer"}]]}, {})
    exact, custom = {"value": {"kind": "exact"}}, {"value": {"kind": "custom", "function": "close"}}
    assert helpers.digests(found, [plain], [exact]) == {}
    assert helpers.digests(found, [plain, built], [exact]) == {
        "fixtures.py": files.sha256_file(tmp_path / "fixtures.py")
    }
    assert helpers.digests(found, [plain], [exact, custom]).keys() == {"checkers.py"}
    assert helpers.digests(helpers.NO_HELPERS, [built], [custom]) == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [("def tokenizer(path):\n    return path\n", "needs arguments"), ("def tokenizer(\n", "no Python")],
)
def test_fixtures_that_cannot_be_used(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "fixtures.py").write_text(text)
    with pytest.raises(LmrError, match=reason):
        helpers.read(tmp_path)


def test_what_counts_as_a_fixture(tmp_path: Path) -> None:
    (tmp_path / "fixtures.py").write_text(
        "import os\n\ndef _load(path): ...\n\ndef model(size=3): ...\n\nvalue = 3\n\ndef words(): ...\n"
    )
    found = helpers.read(tmp_path)
    assert (found.fixture_names, found.checkers) == (("model", "words"), None)
    assert helpers.read(tmp_path / "nowhere") == helpers.Helpers()


@pytest.mark.parametrize(
    ("place", "name"),
    [("tokenizer is a X: …", "tokenizer"), ("self.cfg.tokenizer._lock", "tokenizer"), ("self._lock", None),
     ("value is a X", None), ("hooks[1]", "hooks"), ("", None),
     ("self._modules['encoder']", "encoder"), ("self._modules['a']._buffers['b']", "b"),
     ("self._cache['encoder']", None)],
)  # fmt: skip
def test_the_advice_names_the_function_to_write(place: str, name: str | None) -> None:
    assert helpers.fixture_name(place) == name
    advice = helpers.fixture_advice([place])
    assert (f"def {name}()" in advice) if name else advice == ""


def test_a_fixture_stands_for_a_part_of_a_torch_module() -> None:
    """Where ``self.encoder = encoder`` puts it: torch keeps it in a dictionary of its own."""
    pytest.importorskip("torch")
    from torch import nn

    model = nn.Sequential()
    model.add_module("encoder", nn.Linear(2, 2))
    model.add_module("head", nn.Linear(2, 2))

    stored = encode({"self": model}, 10**6, (), Fixtures(("encoder",)).find)

    assert [path for path, node in walk(stored) if isinstance(node, dict) and node["$"] == "fixture"] == [
        "self._modules['encoder']"
    ]
    assert any(path.startswith("self._modules['head']._parameters") for path, _ in walk(stored))


@pytest.mark.bwrap
def test_a_part_that_a_function_compares(task: TaskDir, tmp_path: Path) -> None:
    beside = task.root / "small-repo/unit_test"
    checks = ("value['axis']=custom:up_to_sign",)
    with pytest.raises(LmrError, match="no function up_to_sign"):
        masked_and_recorded(task, DIRECTION, checks=checks)
    (beside / "checkers.py").write_text(CHECKERS)
    result = masked_and_recorded(task, DIRECTION, checks=checks)
    assert list(result.recording.helpers) == ["checkers.py"]
    assert failed_gates(task) == []
    answers = {
        "other way": "norm = sum(v * v for v in values) ** 0.5\n"
        "    return {'axis': [v / norm for v in values], 'norm': norm}",
        "wrong": "norm = sum(v * v for v in values) ** 0.5\n    return {'axis': list(values), 'norm': norm}",
        "wrong elsewhere": "return {'axis': [-v / sum(v * v for v in values) ** 0.5 for v in values], 'norm': 1.0}",
        "missing": "return {'norm': sum(v * v for v in values) ** 0.5}",
        "names code": "import os\n    norm = sum(v * v for v in values) ** 0.5\n"
        "    return {'axis': os.system, 'norm': norm}",
    }
    found = judged(task, answers, tmp_path / "out")
    assert found["other way"] == (Outcome.PASSED, "")
    assert {name for name, (outcome, _) in found.items() if outcome is Outcome.PASSED} == {"other way"}
    assert "up_to_sign says no" in found["wrong"][1]
    assert "plain values only" in found["names code"][1]


def judged(task: TaskDir, answers: dict[str, str], out: Path) -> dict[str, tuple[Outcome, str]]:
    """What becomes of some bodies of the target."""
    out.mkdir()
    lines = [
        {"task": task.name, "index": 1, "model": name, "code": f"def direction(values):\n    {body}\n"}
        for name, body in answers.items()
    ]
    (out / "predictions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = score(
        [task],
        out / "predictions.jsonl",
        CandidateOptions(out, python=PLAIN_PYTHON),
        lambda _: None,
        lambda *_: None,
    )
    return {item.model: (item.score.outcome, item.score.reason) for item in done.results}


@pytest.mark.bwrap
def test_the_shipped_test_uses_both(task: TaskDir) -> None:
    beside = task.root / "small-repo/unit_test"
    (beside / "checkers.py").write_text(CHECKERS)
    masked_and_recorded(task, DIRECTION, checks=("value['axis']=custom:up_to_sign",))
    root = task.root / "small-repo"
    assert "custom=HERE / 'checkers.py'" in (beside / "unit_test_1.py").read_text()
    assert shipped(root) == 1, "masked"
    (root / "pkg/words.py").write_text(WORDS)
    assert shipped(root) == 0
    (root / "pkg/words.py").write_text(WORDS.replace("[-value / norm", "[value / norm"))
    assert shipped(root) == 0, "the other direction is as good"
    (root / "pkg/words.py").write_text(WORDS.replace("[-value / norm", "[value"))
    assert shipped(root) == 1


def shipped(root: Path, *words: str) -> int:
    command: Sequence[str] = [sys.executable, "unit_test/unit_test_1.py"]
    return subprocess.run(command, cwd=root, env={"PYTHONPATH": str(root)}, capture_output=True).returncode

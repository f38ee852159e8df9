"""The annotator's own files: objects that cannot be stored are built, and parts are compared, by functions."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.authoring.recording import checkers
from lmr_author.authoring.recording.record import RecordResult
from lmr_author.core.errors import LmrError
from lmr_author.core.task import GateStatus, Task
from lmr_author.core.task.recording import FIXTURES as FILE
from lmr_author.core.task.recording import helper
from lmr_author.runtime.probe.document import walk
from lmr_author.runtime.probe.encoding import encode
from lmr_author.runtime.probe.outcome import RecordedFixtures
from lmr_author.runtime.replay import replaying
from tests.pipeline import recorded, run_gates
from tests.recording.test_record import passing
from tests.support import make_task, write_files

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
from pkg.words import Tokenizer, direction, first

tokenizer = Tokenizer("the cat sat on a mat".split())
for text in ("cat sat", "mat the", "on", ""):
    first(text, tokenizer, scale=2.0)
for values in ([3.0, 4.0], [1.0, 2.0, 2.0], [5.0]):
    direction(values)
"""

FIXTURES = '''\
from pathlib import Path

from pkg.words import Tokenizer


def tokenizer():
    """As the driver makes it."""
    return Tokenizer((Path(__file__).parent / "fixture_files" / "words.txt").read_text().split())
'''


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task with code whose objects cannot be stored."""
    made = make_task(tmp_path)
    write_files(made.root / "small-repo", {"pkg/words.py": WORDS, "words_run.py": RUN})
    return made


def masked_and_recorded(task: Task, target: str, **options: object) -> RecordResult:
    if not task.load().implementations:
        mask(task, MaskOptions((target,), category="Evaluation Metrics"), task.root)
    command = () if "examples" in options else ("python", "words_run.py")
    return recorded(task, target, *command, quick=True, **options)  # type: ignore[arg-type]


def failed_gates(task: Task) -> list[str]:
    """The gates that fail; without the one that tries mutants, which takes longest."""
    gates = [gate for gate in run_gates(task, mutants=0, repeats=1).gates if gate.gate != "mutants-die"]
    return [f"{gate.gate}: {gate.message}" for gate in gates if gate.status is not GateStatus.PASSED]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def tokenizer(path):\n    return path\n", "needs arguments"),
        ("def tokenizer(\n", "not valid Python"),
    ],
)
def test_fixtures_that_cannot_be_used(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "fixtures.py").write_text(text)
    with pytest.raises(LmrError, match=reason):
        checkers.read_helpers(tmp_path)


def test_what_counts_as_a_fixture(tmp_path: Path) -> None:
    (tmp_path / "fixtures.py").write_text(
        "import os\n\ndef _load(path): ...\n\ndef model(size=3): ...\n\nvalue = 3\n\ndef words(): ...\n"
    )
    found = checkers.read_helpers(tmp_path)
    assert found.fixture_names == ("model", "words")
    assert checkers.read_helpers(tmp_path / "nowhere") == checkers.Helpers()


@pytest.mark.parametrize(
    ("place", "name"),
    [("tokenizer is a X: …", "tokenizer"), ("self.cfg.tokenizer._lock", "tokenizer"), ("self._lock", None),
     ("value is a X", None), ("hooks[1]", "hooks"), ("", None),
     ("self._modules['encoder']", "encoder"), ("self._modules['a']._buffers['b']", "b"),
     ("self._cache['encoder']", None), ("@closure helper is a function: …", "helper"), ("@global args", "args")],
)  # fmt: skip
def test_the_advice_names_the_function_to_write(place: str, name: str | None) -> None:
    assert checkers.fixture_name(place) == name
    advice = checkers.fixture_advice([place])
    assert (f"def {name}()" in advice) if name else advice == ""


def test_a_fixture_stands_for_a_part_of_a_torch_module() -> None:
    """Where ``self.encoder = encoder`` puts it: torch keeps it in a dictionary of its own."""
    pytest.importorskip("torch")
    from torch import nn

    model = nn.Sequential()
    model.add_module("encoder", nn.Linear(2, 2))
    model.add_module("head", nn.Linear(2, 2))

    stored = encode({"self": model}, 10**6, (), RecordedFixtures(("encoder",)).find)

    assert [
        path for path, node in walk(stored.tree) if isinstance(node, dict) and node.get("$") == "fixture"
    ] == ["self._modules['encoder']"]
    assert any(path.startswith("self._modules['head']._parameters") for path, _ in walk(stored.tree))


def test_a_fixture_stands_for_its_own_kind_and_for_what_cannot_be_stored() -> None:
    """One layer has a lambda as its dropout, another one a real object, which is not to be replaced."""
    fixtures = RecordedFixtures(("drop",), kinds={"drop": type(lambda: 0)})
    assert fixtures.find(lambda x: x, "self.drop") == "drop"
    assert fixtures.find({"p": 0.1}, "self.drop") is None
    assert fixtures.find(threading.Lock(), "self.drop") == "drop"
    assert RecordedFixtures(("drop",)).find({"p": 0.1}, "self.drop") == "drop", "nobody knows what it builds"


@pytest.mark.bwrap
def test_an_object_that_cannot_be_stored_is_built(task: Task) -> None:
    target = "pkg/words.py::first"
    with pytest.raises(LmrError) as caught:
        masked_and_recorded(task, target)
    assert "tokenizer.lock could not be stored" in str(caught.value.hint)
    assert "`def lock(): return ...`" in str(caught.value.hint)

    beside = task.root / "small-repo/unit_test"
    write_files(beside, {"fixtures.py": FIXTURES, "fixture_files/words.txt": "the cat sat on a mat"})
    result = masked_and_recorded(task, target)
    assert list(result.recording.helpers) == ["fixtures.py", "fixture_files/words.txt"]
    inputs = replaying.load_document(beside / "recordings/1/case_1", "inputs")
    assert checkers.uses_fixtures(inputs) and inputs.omitted == ()
    assert "fixtures=HERE / 'fixtures.py'" in (beside / "unit_test_1.py").read_text()
    assert failed_gates(task) == []

    (beside / "fixture_files/words.txt").write_text("cat the sat on a mat")
    assert any(
        line.startswith("untampered: ") and "words.txt was changed" in line for line in failed_gates(task)
    )
    (beside / "fixtures.py").unlink()
    with pytest.raises(LmrError, match=r"fixtures\.py is missing"):
        helper(beside / "recordings/1", result.recording, FILE)


SHARED = '''\
import threading

REGISTER = {}


class Vocabulary:
    """A tokenizer that can be stored, by the name of this class."""

    def __init__(self, words):
        self.words = list(words)

    def ids(self, text):
        return [self.words.index(word) for word in text.split()]


class Locked(Vocabulary):
    """One that cannot."""

    def __init__(self, words):
        super().__init__(words)
        self.lock = threading.Lock()


def tokenizer():
    REGISTER["words"] = ["the", "cat", "sat", "on", "a", "mat"]
    return Locked(REGISTER["words"])


def scale():
    """It takes the state of this module that the other fixture set: it is one module."""
    made = Scale(float(len(REGISTER["words"])))
    made.lock = threading.Lock()
    return made


class Scale(float):
    pass
'''
SHARED_RUN = """\
from pkg.words import first
from unit_test.fixtures import REGISTER, Vocabulary, scale, tokenizer

for text in ("cat sat", "mat the", ""):
    first(text, Vocabulary(["the", "cat", "sat", "mat"]), scale=2.0)
    locked = tokenizer()
    first(text, locked, scale=scale())
"""


@pytest.mark.bwrap
@pytest.mark.parametrize("folder", ["", "unit_test"])
def test_fixtures_are_one_module_with_classes_and_state(folder: str, task: Task) -> None:
    """Also where the driver imports them by another name."""
    root = task.root / "small-repo"
    run = SHARED_RUN
    if folder:
        run = f"import sys\nsys.path.append({folder!r})\n" + run.replace("unit_test.fixtures", "fixtures")
    write_files(root, {"unit_test/fixtures.py": SHARED, "words_run.py": run})
    result = masked_and_recorded(task, "pkg/words.py::first", cases=6)

    assert [item.reason for item in result.selected.rejected] == []
    trees = [
        replaying.load_document(root / "unit_test/recordings/1" / case.name, "inputs").tree
        for case in result.recording.cases
    ]
    assert {tree["tokenizer"].get("cls", tree["tokenizer"]["$"]) for tree in trees} == {
        "unit_test.fixtures:Vocabulary", "fixture",
    }  # fmt: skip
    assert failed_gates(task) == []
    assert passing(root.parent.parent, "pkg/words.py", [WORDS]) == [True]


@pytest.mark.bwrap
def test_drivers_and_examples_may_call_a_fixture(task: Task) -> None:
    root = task.root / "small-repo"
    words = {"unit_test/fixture_files/words.txt": "the cat sat on a mat"}
    write_files(root, {"unit_test/fixtures.py": FIXTURES, **words})
    made_here = 'tokenizer = Tokenizer("the cat sat on a mat".split())'
    run = RUN.replace(made_here, "tokenizer = fixtures.tokenizer()")
    (root / "words_run.py").write_text(f"from unit_test import fixtures\n{run}")
    examples = ("first('mat cat', tokenizer())", "first('', tokenizer(), scale=3.0)")

    driven = masked_and_recorded(task, "pkg/words.py::first")
    written = masked_and_recorded(task, "pkg/words.py::first", examples=examples, force=True)

    for result in (driven, written):
        assert result.recording.cases[0].summary["tokenizer"] == "the fixture tokenizer"
    assert written.recording.coverage.missed == ()

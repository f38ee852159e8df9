"""A task whose tests build objects by fixtures, and have checkers of their own."""

from __future__ import annotations

from lmr_author.evaluation.evaluate import EvaluateOptions, evaluate
from lmr_author.masking import MaskOptions, mask
from lmr_author.recording.record import RecordOptions, RecordResult, record
from lmr_author.task import GateStatus, Task
from tests.evaluation.foreign import PLAIN_PYTHON

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


def masked_and_recorded(task: Task, target: str, **options: object) -> RecordResult:
    if not task.load().implementations:
        mask(task, MaskOptions((target,), category="Evaluation Metrics"), task.root)
    chosen = RecordOptions(target, ("python", "words_run.py"), python=PLAIN_PYTHON, **options)  # type: ignore[arg-type]
    return record(task, chosen, task.root, lambda _: None)


def failed_gates(task: Task) -> list[str]:
    """The gates that fail; without the one that tries mutants, which takes longest."""
    options = EvaluateOptions(python=PLAIN_PYTHON, mutants=0)
    result = evaluate(task, options, lambda _: None, lambda _: None)
    gates = [gate for gate in result.gates if gate.gate != "mutants-die"]
    return [f"{gate.gate}: {gate.message}" for gate in gates if gate.status is not GateStatus.PASSED]

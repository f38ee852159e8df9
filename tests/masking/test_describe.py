"""Drafts: what they take over from signature, docstrings, comments and callers, and what they never do."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author import code
from lmr_author.masking import locate
from lmr_author.masking.body import mask_source
from lmr_author.masking.draft import draft
from lmr_author.masking.notes import MaskNotes
from lmr_author.task import Target

LOSS = '''\
import math
import numpy as np
import torch.nn.functional as F
from utils import flatten, gather as collect

EPS = 1e-6


class Loss(Base):
    """The margin loss.

    Args:
        margin: how far apart
    """

    def __init__(self, margin: float, weight: "float" = 0.5, *, mode="sum"):
        self.margin = margin

    # Pull together what belongs together.
    @decorated
    def forward(self, x, y):
        n, d = x.shape
        secret = F.relu(self.margin - collect(x) @ y + EPS)
        return self._reduce(np.abs(secret)) + math.pi

    def _reduce(self, x): return x.sum()

    @staticmethod
    def scale(x, by=2): return x * by


def outer(n):
    local = 3

    def inner(x: "Float[Tensor, 'b d']", *args, **kwargs) -> None:
        from json import dumps
        return dumps(x + local + n)

    return inner


def documented(x: int = 1):
    """Measure gaps.

    Args:
        x: the one, of shape (b,)

    Returns:
        the other
    """
    return x


def stream(items):
    yield from items
'''

USER = """\
from loss import stream, documented, outer


def train(batch):
    losses, rewards = stream(batch["items"][:, -1])
    return documented(x=1)


class Loss:
    def forward(self, x): return other.forward(1, 2)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "loss.py").write_text(LOSS)
    (tmp_path / "use.py").write_text(USER)
    (tmp_path / "broken.py").write_text("def stream(:\n")
    (tmp_path / "unit_test").mkdir()
    (tmp_path / "unit_test" / "t.py").write_text("stream('hidden')\n")
    return tmp_path


def drafted(repository: Path, name: str) -> MaskNotes:
    return draft(*locate.find(repository, Target("loss.py", name)))


def test_a_method_without_a_docstring(repository: Path) -> None:
    found = drafted(repository, "Loss.forward")
    assert found.objective == "Pull together what belongs together."
    assert found.inputs == ("x: shape (n, d)", "y")
    assert found.outputs == ()
    assert found.dependencies == ("self.margin", "EPS", "self._reduce")
    assert set(found.outside) == {
        "torch.nn.functional as F",
        "utils.gather as collect",
        "numpy as np",
        "math",
    }
    assert found.steps == ()
    assert found.docstring == "Pull together what belongs together.\n\nArgs:\n    x: shape (n, d)\n    y"


def test_the_class_describes_what_init_takes(repository: Path) -> None:
    found = drafted(repository, "Loss.__init__")
    assert found.objective == "Initialize a `Loss`: the margin loss."
    assert found.inputs == (
        "margin (float): how far apart", "weight (float, default 0.5)", "mode (default sum)",
    )  # fmt: skip
    assert found.outputs == ()


def test_a_nested_function(repository: Path) -> None:
    found = drafted(repository, "outer.inner")
    assert found.objective == "" and found.docstring == ""
    assert found.inputs[0].startswith("x (") and "Float[Tensor, 'b d']" in found.inputs[0]
    assert found.inputs[1:] == ("args", "kwargs")
    assert found.dependencies == ("local", "n")
    assert found.outside == ("json.dumps",)
    assert found.outputs == ()  # it is annotated to return None


def test_a_documented_function_keeps_its_words_and_gets_no_docstring(repository: Path) -> None:
    found = drafted(repository, "documented")
    assert found == MaskNotes(
        objective="Measure gaps.",
        inputs=("x (int, default 1): the one, of shape (b,)",),
        outputs=("the other",),
    )


def test_a_name_that_begins_with_a_verb_makes_a_docstring(tmp_path: Path) -> None:
    (tmp_path / "loss.py").write_text("def merge_heads(x) -> 'Tensor':\n    yield x\n")
    assert drafted(tmp_path, "merge_heads").docstring == "Merge heads.\n\nArgs:\n    x\n\nYields:\n    Tensor"


@pytest.mark.parametrize(
    ("name", "said"),
    [("Net.forward", "Forward pass of `Net`."), ("cl_forward", ""), ("Egg.__init__", "Initialize an `Egg`.")],
)
def test_what_a_name_does_not_tell_is_left_out(name: str, said: str, tmp_path: Path) -> None:
    text = "class Net:\n    def forward(self): return 1\n"
    text += "class Egg:\n    def __init__(self): self.x = 1\ndef cl_forward(x): return x\n"
    (tmp_path / "loss.py").write_text(text)
    assert drafted(tmp_path, name).objective == said


def test_a_static_method_has_no_self(repository: Path) -> None:
    assert drafted(repository, "Loss.scale").inputs == ("x", "by (default 2)")


@pytest.mark.parametrize(
    ("name", "secrets"),
    [
        ("Loss.forward", ["secret", "F.relu", "self.margin -", "np.abs", "return"]),
        ("Loss.__init__", ["self.margin", "="]),
        ("outer.inner", ["dumps(", "local +", "return"]),
        ("stream", ["yield from"]),
    ],
)
def test_nothing_that_is_computed_is_in_a_draft(name: str, secrets: list[str], repository: Path) -> None:
    """A draft says names and shapes, never what is done with them."""
    module, definition = locate.find(repository, Target("loss.py", name))
    drafts = {definition.qualname: drafted(repository, name)}
    goal = code.Module.parse(mask_source(module, [definition], drafts).data, "loss.py")
    masked = next(item for item in goal.definitions if item.qualname == name)
    was, now = code.region_bytes(module, definition).decode(), code.region_bytes(goal, masked).decode()
    assert [secret for secret in secrets if secret not in was] == []
    assert [secret for secret in secrets if secret in now] == []

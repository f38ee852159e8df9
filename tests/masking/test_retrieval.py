"""Retrieval context: which files are proposed, why, and that nothing of the repository is run for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lmr_author.authoring.masking import locate
from lmr_author.core.task import Target
from lmr_author.proof.retrieval import propose
from tests.support import write_files

FILES = {
    "train.py": """\
import json
import os.path
import torch
import numpy as np
import utils
import pkg.deep.more as more
from pkg import Exported, Trainer
from pkg.config import Config, EPS
from pkg.layers import *
from missing import nothing

open('ran', 'w')


class Mine(Trainer):
    scale = 2

    def __init__(self):
        self.encoder = Encoder(3)
        self.helper = utils.make_helper()

    def step(self, batch, config: Config):
        x = self.encoder.encode(batch) + EPS
        y = self.own(x) + self.inherited(x)
        self.helper.help()
        return torch.relu(y) + np.abs(y) + json.dumps(os.path.join("a")) + nothing()

    def own(self, x): return x

    def modules(self):
        more.deep_function()
        return utils.pad, Exported.build()

    def objects(self, config: Config):
        made = utils.Box()
        return made.open(config.width)


def star(x): return Linear(x)


def alone(x): return len(x) + alone(x)
""",
    "utils.py": """\
def pad(x): return x
def make_helper(): return 1
class Box:
    def open(self, width): return width
""",
    "pkg/__init__.py": "from .base import Base as Trainer\nfrom .exported import Exported\n",
    "pkg/base.py": """\
from pkg.root import Root
class Base(Root):
    def step(self, batch, config): raise NotImplementedError
""",
    "pkg/root.py": "class Root:\n    def inherited(self, x): return x\n",
    "pkg/exported.py": "class Exported:\n    @classmethod\n    def build(cls): return cls()\n",
    "pkg/config.py": "EPS = 1\nclass Config:\n    width: int = 3\n",
    "pkg/layers.py": "from .coder import Encoder\ndef Linear(x): return x\n",
    "pkg/coder.py": "class Encoder:\n    def encode(self, x): return x\n",
    "pkg/deep/more.py": "def deep_function(): return 1\n",
    "pkg/logging.py": "import logging\nfrom json import dumps\ndef log(): logging.info(dumps(1))\n",
    "unit_test/helpers.py": "def pad(x): return x\n",
    "broken.py": "def (:\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write_files(tmp_path, FILES)


def proposed(repository: Path, target: str, **how: object) -> dict[str, str]:
    found = propose(repository, *locate.find(repository, Target.parse(target)), **how)  # type: ignore[arg-type]
    return {proposal.path: "; ".join(proposal.reasons) for proposal in found}


def test_what_is_called_read_and_named_and_the_base_class(repository: Path) -> None:
    found = proposed(repository, "train.py::Mine.step")
    assert found == {
        "pkg/base.py": "defines the base class `Base`",
        "pkg/config.py": "defines `Config`, used at line 22; defines `EPS`, used at line 23",
        "pkg/coder.py": "defines `Encoder`, used at line 23",
        "utils.py": "defines `make_helper`, used at line 25",
    }
    assert next(iter(found)) == "pkg/config.py"


def test_modules_and_classes(repository: Path) -> None:
    found = proposed(repository, "train.py::Mine.modules")
    assert found["pkg/deep/more.py"] == "defines `deep_function`, used at line 31"
    assert found["utils.py"] == "defines `pad`, used at line 32"
    assert found["pkg/exported.py"] == "defines `Exported`, used at line 32"


def test_star_imports_are_followed(repository: Path) -> None:
    assert proposed(repository, "train.py::star") == {"pkg/layers.py": "defines `Linear`, used at line 39"}


def test_nothing_is_proposed_for_a_function_that_uses_nothing_else(repository: Path) -> None:
    assert proposed(repository, "train.py::alone") == {}
    assert proposed(repository, "pkg/logging.py::log") == {}  # the standard library's, not itself


def test_a_parameter_hides_an_import_of_its_name(repository: Path) -> None:
    (repository / "user.py").write_text("from utils import pad, Box\ndef f(pad): Box = 1; return pad(Box)\n")
    assert proposed(repository, "user.py::f") == {}


def test_the_repository_is_never_run(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its files nor a module that calls itself jedi, wherever the command is started."""
    for name in ("libcst.py", "sitecustomize.py", "pkg/coder.pyi", "conftest.py", "setup.py"):
        (repository / name).write_text("open('ran', 'w')\n")
    monkeypatch.chdir(repository)
    assert "defines `Box`" in proposed(repository, "train.py::Mine.objects")["utils.py"]
    assert list(repository.rglob("ran")) == []


def test_links_and_circles_end(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.py"
    outside.write_text("def key(): return 1\n")
    os.symlink(outside, repository / "linked.py")
    (repository / "one.py").write_text("from two import *\nfrom two import a\nclass X(Y): pass\n")
    (repository / "two.py").write_text("from one import *\nfrom one import a\nfrom one import X as Y\n")
    (repository / "user.py").write_text(
        "from linked import key\nfrom one import a, X\n"
        "class Z(X, Z):\n    def f(self): return key() + a() + self.b()\n"
    )
    assert proposed(repository, "user.py::Z.f") == {"one.py": "defines the base class `X`"}

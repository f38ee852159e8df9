"""Local environments and the PyTorch that they get; the wheels are a test's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lmr_author.environment import Recipe
from lmr_author.environment.local import LocalOptions, LocalResult, make_local, with_torch
from lmr_author.environment.recipe import Declared
from lmr_author.errors import LmrError
from lmr_author.task import Task
from lmr_author.task.environment import BuiltEnvironment
from tests.support import make_task
from tests.wheels import wheel

OFFICIAL = "pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime"


@pytest.fixture(autouse=True)
def wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache of the test's own, and a folder of wheels in place of an index."""
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    for version in ("2.0.1", "2.2.0"):
        wheel(tmp_path / "wheels", "torch", version)
    wheel(tmp_path / "wheels", "plain", "1.0")
    wheel(tmp_path / "wheels", "torchvision", "0.15.2")


def task(tmp_path: Path, image: str, code: str, *, built: str = "") -> Task:
    """A task with one pin."""
    made = make_task(tmp_path)
    (made.root / "small-repo/pkg/losses.py").write_text(code)
    made.dockerfile.write_text(f"FROM {image}\n")
    made.lock.write_text("plain==1.0\n")
    if built:
        made.environment_path.parent.mkdir(exist_ok=True)
        digest = 64 * "0"
        BuiltEnvironment(
            "0.1.0",
            "2026-01-01T00:00:00Z",
            1.0,
            f"sha256:{digest}",
            "tag",
            "27",
            digest,
            "3.11.2",
            torch=built,
        ).write(made.environment_path)
    return made


def local(made: Task, *extra: str) -> LocalResult:
    """The environment of a task."""
    return make_local(made, LocalOptions(extra=extra), lambda _: None)


def without(result: LocalResult) -> list[str]:
    """Return the remarks on a missing PyTorch."""
    return [remark for remark in result.remarks if "without PyTorch" in remark]


@pytest.mark.parametrize(
    ("image", "built", "extra"), [(OFFICIAL, "", "torch==2.0.1"), ("me/base:1", "2.2.0+cpu", "torch==2.2.0")]
)
def test_pytorch_is_the_images(tmp_path: Path, image: str, built: str, extra: str) -> None:
    result = local(task(tmp_path, image, "import torch\n", built=built))
    assert (result.local.extra, without(result)) == ((extra,), [])


def test_torchvision_comes_where_the_code_imports_it(tmp_path: Path) -> None:
    result = local(task(tmp_path, OFFICIAL, "import torch\nfrom torchvision import models\n"))
    assert result.local.extra == ("torch==2.0.1", "torchvision")


def test_pytorch_is_left_out_where_nothing_needs_it(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import plain\n")
    result = local(made)
    assert result.local.extra == ()
    assert ["the repository does not use" in text for text in without(result)] == [True]
    result = local(made, "torch==2.2.0")
    assert (result.local.extra, without(result)) == (("torch==2.2.0",), [])


def test_a_lock_for_another_python_is_named_as_the_reason(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import plain\n")
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    made.lock.write_text("# for Python 3.6\nplain==9.0\n")
    with pytest.raises(LmrError) as caught:
        make_local(made, LocalOptions(python=own), lambda _: None)
    told = str(caught.value.hint)
    assert "is for Python 3.6" in told and f"`lmr-author env lock --python-version {own}`" in told
    made.lock.write_text(f"# for Python {own}\nplain==9.0\n")
    with pytest.raises(LmrError) as caught:
        make_local(made, LocalOptions(python=own), lambda _: None)
    assert "lock --python" not in str(caught.value.hint)


OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def test_a_repository_for_another_python_is_told(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import plain\n")
    (made.root / "small-repo/setup.cfg").write_text("[options]\npython_requires = >=3.99\n")
    (said,) = [
        text for text in make_local(made, LocalOptions(python=OWN), lambda _: None).remarks if "asks" in text
    ]
    assert said.startswith(
        f"the repository asks for Python >=3.99 (setup.cfg:2), and this environment has {OWN}"
    )


def masked(made: Task) -> None:
    """Say that a function of ``pkg/losses.py`` is masked."""
    target = {"index": 1, "goal_file": "pkg/losses.py", "goal_function": "hinge", "class_name": ""}
    info = json.loads(made.info_path.read_text())
    made.info_path.write_text(json.dumps({**info, "implementations": [target]}))


def test_the_goal_file_is_imported_and_what_it_lacks_is_named(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import yaml\nimport plain\n")
    masked(made)
    made.lock.write_text(f"# for Python {OWN}\nplain==1.0\n")
    wheel(tmp_path / "wheels", "pyyaml", "6.0", module="yaml")

    def said(*extra: str) -> list[str]:
        options = LocalOptions(OWN, extra)
        return [text for text in make_local(made, options, lambda _: None).remarks if "yaml" in text]

    (text,) = said()
    assert text.startswith("pkg/losses.py cannot be imported here: yaml is not installed")
    assert "`lmr-author env local --with=PyYAML`" in text
    assert said("pyyaml") == []


def test_code_that_asks_for_its_own_version_can_be_imported(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "from importlib.metadata import version\nV = version('small-pkg')\n")
    masked(made)
    (made.root / "small-repo/pyproject.toml").write_text('[project]\nname = "small-pkg"\nversion = "1.0"\n')
    result = make_local(made, LocalOptions(python=OWN), lambda _: None)
    assert not [text for text in result.remarks if "cannot be imported" in text]


@pytest.mark.parametrize(
    ("extra", "torch", "used", "wanted"),
    [
        ((), "2.0.1", {"torch", "torchvision", "triton"}, ("torch==2.0.1", "torchvision")),
        (("torch==2.6.0",), "2.0.1", {"torchaudio"}, ("torch==2.6.0", "torchaudio")),
        (("torchvision==0.15.2",), "2.0.1", {"torchvision"}, ("torchvision==0.15.2", "torch==2.0.1")),
        (("torchmetrics",), "", {"torchvision"}, ("torchmetrics",)),
    ],
)
def test_what_the_repository_uses_of_pytorchs_image_comes_with_it(
    extra: tuple[str, ...], torch: str, used: set[str], wanted: tuple[str, ...]
) -> None:
    recipe = Recipe(torch=tuple(Declared(name, name, "a") for name in used))
    assert with_torch(extra, torch, recipe) == wanted


@pytest.mark.parametrize("text", ["torch", "Torch>=2", "torch @ nonsense ="])
def test_torch_is_never_without_a_version(text: str) -> None:
    with pytest.raises(LmrError):
        with_torch((text,), "2.0.1", Recipe())

"""Which PyTorch a local environment gets; the wheels are a test's own."""

from __future__ import annotations

import io
import json
import sys
import tarfile
from pathlib import Path

import pytest

from lmr_author.environment.local import LocalOptions, LocalResult, make_local
from lmr_author.environment.repair import Repair
from lmr_author.errors import LmrError
from lmr_author.task import Task
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
        made.environment_path.write_text(json.dumps({"format": "lmr-environment/1", "torch": built}))
    return made


def local(made: Task, *extra: str) -> LocalResult:
    """The environment of a task."""
    return make_local(made, LocalOptions(extra=extra), lambda _: None)


def without(result: LocalResult) -> list[str]:
    """What is said of a PyTorch that is not there."""
    return [remark for remark in result.remarks if "without PyTorch" in remark]


@pytest.mark.parametrize(
    ("image", "built", "extra"),
    [(OFFICIAL, "", "torch==2.0.1"), ("me/base:1", "2.2.0+cpu", "torch==2.2.0")],
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
    assert ["nothing here needs" in text for text in without(result)] == [True]
    result = local(made, "torch==2.2.0")
    assert (result.local.extra, without(result)) == (("torch==2.2.0",), [])


def test_an_image_whose_pytorch_nobody_knows_is_told(tmp_path: Path) -> None:
    result = local(task(tmp_path, "me/base:1", "import torch\n"))
    assert result.local.extra == ()
    assert ["not known" in text for text in without(result)] == [True]


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


def fragile(folder: Path) -> None:
    """A version of which there is only a source that cannot be built, and a later one with a wheel."""
    backend = b"def build_wheel(*a, **k):\n    raise RuntimeError('written for another Python')\n"
    settings = b"[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
    told = b"Metadata-Version: 2.2\nName: fragile\nVersion: 1.0\n"
    with tarfile.open(folder / "fragile-1.0.tar.gz", "w:gz") as archive:
        for name, content in (("PKG-INFO", told), ("pyproject.toml", settings), ("backend.py", backend)):
            member = tarfile.TarInfo(f"fragile-1.0/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    wheel(folder, "fragile", "1.1")


OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def test_what_cannot_be_built_is_repaired_in_the_lock(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import fragile\nimport plain\n")
    fragile(tmp_path / "wheels")
    held = f"# for Python {OWN}\nfragile==1.0\nplain==1.0\n"
    made.lock.write_text(held)
    with pytest.raises(LmrError) as caught:
        make_local(made, LocalOptions(python=OWN), lambda _: None)
    assert "fragile" in str(caught.value) and "`lmr-author env local --fix`" in caught.value.hint
    assert made.lock.read_text() == held, "nothing changes unasked"

    told: list[Repair] = []
    result = make_local(made, LocalOptions(python=OWN, fix=True), lambda _: None, told.append)
    assert made.lock.read_text() == held.replace("fragile==1.0", "fragile==1.1")
    assert tuple(told) == result.repairs and "+fragile==1.1" in told[0].diff
    assert (made.authoring / "removed" / "requirements.lock").read_text() == held
    assert list(result.local.path.glob("lib/python*/site-packages/fragile.py"))
    assert not [text for text in result.remarks if "base image" in text]


def test_what_the_lock_cannot_help_is_said(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import fragile\n")
    fragile(tmp_path / "wheels")
    (tmp_path / "wheels" / "fragile-1.1-py3-none-any.whl").unlink()
    (made.root / "small-repo/requirements.txt").write_text("fragile\n")
    held = f"# for Python {OWN}\nfragile==1.0\n"
    made.lock.write_text(held)
    with pytest.raises(LmrError) as caught:
        make_local(made, LocalOptions(python=OWN, fix=True), lambda _: None)
    assert caught.value.hint.startswith("nothing that --fix may change in requirements.lock helps")
    assert made.lock.read_text() == held


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


def test_the_goal_file_is_imported_and_what_it_lacks_is_put_into_the_lock(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import yaml\nimport plain\n")
    masked(made)
    made.lock.write_text(f"# for Python {OWN}\nplain==1.0\n")
    wheel(tmp_path / "wheels", "pyyaml", "6.0", module="yaml")
    (said,) = [
        text for text in make_local(made, LocalOptions(python=OWN), lambda _: None).remarks if "yaml" in text
    ]
    assert said.startswith("pkg/losses.py cannot be imported here: yaml is not installed")
    assert "`lmr-author env local --fix`" in said and "plain==1.0\n" in made.lock.read_text()

    told: list[Repair] = []
    result = make_local(made, LocalOptions(python=OWN, fix=True), lambda _: None, told.append)
    assert "+pyyaml==6.0" in told[0].diff and "pyyaml==6.0" in made.lock.read_text()
    assert not [text for text in result.remarks if "cannot be imported" in text]
    assert list(result.local.path.glob("lib/python*/site-packages/yaml.py"))


def test_code_that_asks_for_its_own_version_can_be_imported(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "from importlib.metadata import version\nV = version('small-pkg')\n")
    masked(made)
    (made.root / "small-repo/pyproject.toml").write_text('[project]\nname = "small-pkg"\nversion = "1.0"\n')
    result = make_local(made, LocalOptions(python=OWN), lambda _: None)
    assert not [text for text in result.remarks if "cannot be imported" in text]


def test_what_does_not_help_the_import_is_taken_back(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "raise ImportError(\"No module named 'yaml'\")\n")
    masked(made)
    held = f"# for Python {OWN}\nplain==1.0\n"
    made.lock.write_text(held)
    wheel(tmp_path / "wheels", "pyyaml", "6.0", module="yaml")
    told: list[Repair] = []
    result = make_local(made, LocalOptions(python=OWN, fix=True), lambda _: None, told.append)
    assert [item.undone for item in told] == [False, True]
    assert made.lock.read_text() == held
    assert not list(result.local.path.glob("lib/python*/site-packages/yaml.py"))
    assert [text for text in result.remarks if text.startswith("pkg/losses.py cannot be imported here")]

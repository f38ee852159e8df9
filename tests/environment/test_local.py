"""Local environments and the PyTorch that they get; the wheels are a test's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.core.task.provenance import BuiltEnvironment
from lmr_author.runtime.environment.base_images import choose_base
from lmr_author.runtime.environment.detect import read_needs
from lmr_author.runtime.environment.dockerfile import render
from lmr_author.runtime.environment.local import make_local, with_numpy, with_torch
from lmr_author.runtime.environment.needs import Needs
from lmr_author.runtime.environment.where import HERE, python_of
from lmr_author.runtime.sandbox import bubblewrap
from tests.support import make_task, write_files
from tests.wheels import wheel

OFFICIAL = "pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime"
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(autouse=True)
def wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache of the test's own, and a folder of wheels in place of an index."""
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    for version in ("2.0.1", "2.2.0"):
        wheel(tmp_path / "wheels", "torch", version)
    wheel(tmp_path / "wheels", "numpy", "1.26.4")
    wheel(tmp_path / "wheels", "plain", "1.0")
    wheel(tmp_path / "wheels", "torchvision", "0.15.2")


def task(tmp_path: Path, image: str, code: str, *, built: str = "") -> Task:
    """A task with one pin, in which a function is masked."""
    made = make_task(tmp_path)
    (made.root / "small-repo/pkg/losses.py").write_text(code)
    made.dockerfile.write_text(f"FROM {image}\n")
    made.lock.write_text(f"# for Python {OWN}\nplain==1.0\n")
    target = {"index": 1, "goal_file": "pkg/losses.py", "goal_function": "hinge", "class_name": ""}
    info = json.loads(made.info_path.read_text())
    made.info_path.write_text(json.dumps({**info, "implementations": [target]}))
    if built:
        digest = 64 * "0"
        made.environment_path.parent.mkdir(exist_ok=True)
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


def local(made: Task, *extra: str) -> tuple[tuple[str, ...], str]:
    """Make a task's environment; returns its extra packages, and the remarks."""
    environment, remarks = make_local(made, lambda _: None, python=OWN, extra=extra)
    return environment.extra, "\n".join(remarks)


@pytest.mark.parametrize(
    ("image", "built", "code", "given", "extra"),
    [
        (OFFICIAL, "", "import torch\nfrom torchvision import models\n", (), ("torch==2.0.1", "torchvision")),
        ("me/base:1", "2.2.0+cpu", "import torch\n", (), ("torch==2.2.0",)),
        (OFFICIAL, "", "import plain\n", (), ()),
        (OFFICIAL, "", "import plain\n", ("torch==2.2.0",), ("torch==2.2.0",)),
    ],
)
def test_pytorch_is_the_images_where_the_code_uses_it(
    tmp_path: Path, image: str, built: str, code: str, given: tuple[str, ...], extra: tuple[str, ...]
) -> None:
    found, remarks = local(task(tmp_path, image, code, built=built), *given)
    assert [one for one in found if not one.startswith("numpy")] == list(extra)
    assert ("numpy<2" in found) == bool(extra), "the official images bring numpy, too"
    assert ("without PyTorch, which the repository does not use" in remarks) == (not extra)


def test_a_lock_for_another_python_is_named_as_the_reason(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import plain\n")
    for python, named in (("3.6", True), (OWN, False)):
        made.lock.write_text(f"# for Python {python}\nplain==9.0\n")
        with pytest.raises(LmrError) as caught:
            local(made)
        assert (f"`lmr-author env lock --python-version {OWN}`" in caught.value.hint) == named


def test_a_repository_for_another_python_is_told(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import plain\n")
    (made.root / "small-repo/setup.cfg").write_text("[options]\npython_requires = >=3.99\n")
    asked = f"the repository asks for Python >=3.99 (setup.cfg:2), but this environment has {OWN}"
    assert asked in local(made)[1]


def test_the_goal_file_is_imported_and_what_it_lacks_is_named(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import yaml\nimport plain\n")
    wheel(tmp_path / "wheels", "pyyaml", "6.0", module="yaml")
    remarks = local(made)[1]
    assert "pkg/losses.py cannot be imported here: yaml is not installed" in remarks
    assert f"`lmr-author env local --python={OWN} --with=PyYAML`" in remarks or "--with=PyYAML`" in remarks
    assert "cannot be imported" not in local(made, "pyyaml")[1]


@pytest.mark.bwrap
def test_torchvision_comes_where_a_package_of_the_lock_imports_it(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import torch\nimport timm\n")
    (made.root / "small-repo/requirements.txt").write_text("torch==2.0.1\ntimm\n")
    made.lock.write_text(f"# for Python {OWN}\ntimm==1.0\n")
    wheel(tmp_path / "wheels", "timm", code="import torchvision\n")
    environment, remarks = make_local(made, lambda _: None, python=OWN)
    assert environment.extra == ("numpy<2", "torch==2.0.1", "torchvision")
    assert not environment.fails and "cannot be imported" not in " ".join(remarks)


@pytest.mark.bwrap
def test_a_variable_that_an_import_needs_gets_a_dummy_value(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "import os\n\nKEY = os.environ['MY_API_KEY']\n")
    environment, remarks = make_local(made, lambda _: None, python=OWN)
    assert environment.fails and "it needs the environment variable MY_API_KEY" in remarks[-1]
    assert "`ENV MY_API_KEY=dummy`" in remarks[-1] and "the local sandbox sets it too" in remarks[-1]
    repository = made.root / "small-repo"
    made.dockerfile.write_text(render(read_needs(repository), choose_base(Needs(), OFFICIAL), "small-repo"))
    assert "\nENV MY_API_KEY=dummy\n" in made.dockerfile.read_text()
    assert not make_local(made, lambda _: None, python=OWN)[0].fails


def test_a_package_in_src_is_imported_with_it_on_the_path(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "")
    package = made.root / "small-repo/src/tree"
    package.joinpath("methods").mkdir(parents=True)
    package.joinpath("__init__.py").touch()
    package.joinpath("methods/search.py").write_text("import tree\n\n\ndef hinge():\n    return tree\n")
    info = json.loads(made.info_path.read_text())
    info["implementations"][0]["goal_file"] = "src/tree/methods/search.py"
    made.info_path.write_text(json.dumps(info))
    assert "cannot be imported" not in local(made)[1]


def test_without_bubblewrap_the_goal_file_is_not_imported_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "tools", lambda: None)
    mark = tmp_path / "mark"
    made = task(tmp_path, OFFICIAL, f"open({str(mark)!r}, 'w')\n")
    remarks = local(made)[1]
    assert "without compiling or running anything" in remarks and "apt install bubblewrap" in remarks
    assert not mark.exists()
    with pytest.raises(LmrError) as caught:
        local(made, "plain==9")
    assert "apt install bubblewrap" in caught.value.hint


def test_code_that_asks_for_its_own_version_can_be_imported(tmp_path: Path) -> None:
    made = task(tmp_path, OFFICIAL, "from importlib.metadata import version\nV = version('small-pkg')\n")
    (made.root / "small-repo/pyproject.toml").write_text('[project]\nname = "small-pkg"\nversion = "1.0"\n')
    assert "cannot be imported" not in local(made)[1]


@pytest.mark.parametrize(
    ("extra", "torch", "used", "wanted"),
    [
        ((), "2.0.1", ("torchvision",), ("torch==2.0.1", "torchvision")),
        (("torch==2.6.0",), "2.0.1", ("torchaudio",), ("torch==2.6.0", "torchaudio")),
        (("torchvision==0.15.2",), "2.0.1", ("torchvision",), ("torchvision==0.15.2", "torch==2.0.1")),
        (("torchmetrics",), "", ("torchvision",), ("torchmetrics",)),
    ],
)
def test_what_the_repository_uses_of_pytorchs_image_comes_with_it(
    extra: tuple[str, ...], torch: str, used: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    assert with_torch(extra, torch, used) == wanted


@pytest.mark.parametrize(("code", "used"), [("import torchvision.transforms\n", ("torchvision",)), ("", ())])
def test_torchvision_comes_along_where_code_imports_it(
    tmp_path: Path, code: str, used: tuple[str, ...]
) -> None:
    write_files(tmp_path, {"model.py": f"import torch\n{code}", "requirements.txt": "torch\ntorchvision\n"})
    assert read_needs(tmp_path).beside_torch == used


@pytest.mark.parametrize("text", ["git+https://example.org/apex", "https://example.org/apex.zip"])
def test_an_address_needs_the_name_of_its_package(text: str) -> None:
    with pytest.raises(LmrError) as raised:
        with_torch((text,), "", ())
    assert raised.value.hint == "write it as 'NAME @ git+https://…'"
    assert with_torch((f"apex @ {text}",), "", ()) == (f"apex @ {text}",)


def test_a_task_runs_in_the_environment_that_was_asked_for_last(tmp_path: Path) -> None:
    one, two = (task(tmp_path / name, OFFICIAL, "import plain\n") for name in ("one", "two"))
    local(one)
    local(two, "torch==2.2.0")
    plain, with_torch = python_of(one, HERE).path, python_of(two, HERE).path
    assert plain is not None and with_torch is not None and plain != with_torch
    local(two)
    assert python_of(two, HERE).path == plain


@pytest.mark.parametrize(
    ("extra", "lock", "added"),
    [
        (("torch==2.1.0",), "", "numpy<2"),
        (("torch==2.13.0",), "", "numpy"),
        (("torch>=2",), "", "numpy"),
        (("torch==2.1.0",), "# for Python 3.11\nnumpy==1.26.4 \\\n    --hash=sha256:0\n", ""),
        (("torch==2.1.0", "numpy==1.25"), "", ""),
        (("plain",), "", ""),
    ],
)
def test_numpy_comes_with_pytorch(extra: tuple[str, ...], lock: str, added: str) -> None:
    assert with_numpy(extra, lock) == (*extra, *filter(None, [added]))

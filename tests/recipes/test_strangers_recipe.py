"""A stranger's recipe reads nothing but its own folder, and never makes us wait."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.paper.fetch import fetch
from lmr_author.release.recipes.recipe import read
from tests.papers import make_paper
from tests.recipes.recipes import change, write_recipe

pytestmark = pytest.mark.timeout(20)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recipe, beside it a folder with secrets that it is not to read."""
    private = tmp_path / "private"
    private.mkdir()
    (private / "id_rsa.py").write_text("KEY = 1\n")
    make_paper(private / "paper.pdf", "Secret")
    return write_recipe(tmp_path / "1-small")


PATCHED = {
    "url": "https://example.org/x", "commit": "1" * 40, "patch": "a.patch", "patch_reason": "it is a block",
}  # fmt: skip
OUTSIDE: dict[str, tuple[str, Callable[[Any, Path], object]]] = {
    "files above": ("repository.files", lambda data, at: data["repository"].update(files="../private")),
    "files anywhere": ("repository.files", lambda data, at: data["repository"].update(files=str(at / "private"))),
    "files are the recipe": ("repository.files", lambda data, at: data["repository"].update(files=".")),
    "a patch above": ("repository.patch", lambda data, at: data.update(repository={**PATCHED, "patch": "../x.patch"})),
    "paper above": ("paper.source", lambda data, at: data["paper"].update(source="../private/paper.pdf")),
    "paper anywhere": ("paper.source", lambda data, at: data["paper"].update(source=str(at / "private/paper.pdf"))),
    "paper by address": (
        "paper.source",
        lambda data, at: data["paper"].update(source=(at / "private" / "paper.pdf").as_uri()),
    ),
    "a clone of this machine": (
        "repository.url",
        lambda data, at: data.update(repository={"url": str(at / "private"), "commit": "1" * 40}),
    ),
    "driver above": (
        "targets[0].record.command",
        lambda data, at: data["targets"][0]["record"].update(command="python ../private/id_rsa.py"),
    ),
    "driver anywhere": (
        "targets[0].record.command",
        lambda data, at: data["targets"][0]["record"].update(command=f"A=1 python {at}/private/id_rsa.py 1"),
    ),
    "what is taken out": ("repository.remove", lambda data, at: data["repository"].update(remove=["../private"])),
    "what is shown too": ("targets[0].retrieval", lambda data, at: data["targets"][0].update(retrieval=["../x.py"])),
    "a target elsewhere": ("targets[0].target", lambda data, at: data["targets"][0].update(target="../x.py::f")),
    "a look-alike elsewhere": ("targets[0].also", lambda data, at: data["targets"][0].update(also=["/etc/x.py::f"])),
    "a package of this machine": (
        "environment.local",
        lambda data, at: data.update(environment={"local": [f"key @ {(at / 'private').as_uri()}"]}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", OUTSIDE)
def test_a_path_that_leaves_the_recipe_is_refused(title: str, folder: Path) -> None:
    name, edit = OUTSIDE[title]
    change(folder, lambda data: edit(data, folder.parent))
    with pytest.raises(LmrError) as caught:
        read(folder)
    assert f"recipe.yaml: {name}: " in caught.value.message, caught.value.message
    assert caught.value.hint


def _link(path: Path, private: Path) -> None:
    path.symlink_to(private)


def _pipe(path: Path, private: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path, private: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # its name may not be long
        made.bind(path.name)
        os.chdir(here)


def _device(path: Path, private: Path) -> None:
    path.symlink_to("/dev/zero")


def _large(path: Path, private: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**42)


def _link_inside(path: Path, private: Path) -> None:
    path.symlink_to(path.parent / "README.md")


PLACES = {
    "paper.pdf": "paper.source",
    "driver.py": "driver.py",
    "fixtures.py": "fixtures.py",
    "accepted.json": "accepted.json",
    "equivalent-mutants.json": "equivalent-mutants.json",
    "data": "data",
    "data/more/numbers": "numbers",
    "answers/1/misread.py": "targets[0].answers",
    "answers/1": "targets[0].answers",
    "answers": "answers",
    "repository": "repository.files",
    "repository/steps/core.py": "repository.files",
    "repository/steps": "repository.files",
    "repository/.hidden": "repository.files",
    "recipe.yaml": "recipe.yaml",
}
"""Path in the recipe's folder → what the error names."""
ONE_OF_EACH = ("recipe.yaml", "paper.pdf", "driver.py", "data/more/numbers", "repository/steps/core.py")
"""Of those that are read by different code, one each."""


@pytest.mark.parametrize(
    ("what", "place"),
    [
        *((_link, place) for place in PLACES),
        *((_pipe, place) for place in PLACES),
        *((what, place) for what in (_link_inside, _socket, _device, _large) for place in ONE_OF_EACH),
    ],
)
def test_links_pipes_and_devices_are_refused(what: Callable[..., None], place: str, folder: Path) -> None:
    path = folder / place
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    what(path, folder.parent / "private")
    with pytest.raises(LmrError) as caught:
        read(folder)
    assert PLACES[place] in caught.value.message
    assert str(path) in caught.value.message or what is _large or not path.is_file(), caught.value.message
    assert caught.value.hint


def test_a_patch_is_no_link_out_of_the_recipe(folder: Path) -> None:
    (folder / "a.patch").symlink_to(folder.parent / "private" / "id_rsa.py")
    change(folder, lambda data: data.update(repository=PATCHED))
    with pytest.raises(LmrError, match=r"repository\.patch"):
        read(folder)


def test_what_is_hidden_beside_a_recipe_is_none_of_its_files(folder: Path) -> None:
    """An annotator's own environment and version control."""
    (folder / ".venv").mkdir()
    (folder / ".venv" / "python").symlink_to("/usr/bin/python3")
    assert read(folder).recipe.id == 1
    (folder / ".venv" / "evil").symlink_to(folder.parent / "private")
    change(folder, lambda data: data["targets"][0]["record"].update(command="python .venv/evil/id_rsa.py"))
    with pytest.raises(LmrError, match=r"targets\[0\]\.record\.command"):
        read(folder)


@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_a_paper_that_is_no_file_never_makes_us_wait(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    {"pipe": _pipe, "device": _device, "large": _large}[kind](path, tmp_path)
    with pytest.raises(LmrError) as caught:
        fetch(str(path), tmp_path / "copy.pdf")
    assert str(path) in caught.value.message and caught.value.hint

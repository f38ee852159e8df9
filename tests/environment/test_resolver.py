"""uv in its sandbox: foreign builds run there, see nothing of this machine, and run nowhere else."""

from __future__ import annotations

import io
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lmr_author.environment import Lock, Recipe, choose_base, pin, resolver
from lmr_author.environment.recipe import Declared
from tests.servers import Release, only_index
from tests.wheels import wheel

BACKEND = """
import os
def prepare_metadata_for_build_wheel(folder, settings=None):
    seen = any(os.path.exists(path) for path in ({secret!r}, os.path.expanduser("~root/.ssh")))
    try:
        open({mark!r}, "w").close()
    except OSError:
        pass
    os.mkdir(folder + "/odd-1.0.dist-info")
    with open(folder + "/odd-1.0.dist-info/METADATA", "w") as file:
        needs = "leaked" if seen else "tiny-lmr"
        file.write(f"Metadata-Version: 2.1\\nName: odd\\nVersion: 1.0\\nRequires-Dist: {{needs}}\\n")
    return "odd-1.0.dist-info"
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a source whose build looks around, and a wheel that it needs; no index."""
    folder = tmp_path / "packages"
    wheel(folder)
    (tmp_path / "secret").write_text("token")
    code = BACKEND.format(secret=str(tmp_path / "secret"), mark=str(tmp_path / "mark"))
    with tarfile.open(folder / "odd-1.0.tar.gz", "w:gz") as archive:
        for name, text in (("pyproject.toml", PROJECT), ("backend.py", code)):
            member = tarfile.TarInfo(f"odd-1.0/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    return folder


def locked() -> Lock:
    """A lock of the one source, for this image's Python."""
    return pin(Recipe((Declared("odd", "odd==1.0", "r.txt:1"),)), choose_base(Recipe(), "me/base:1", "3.11"))


@pytest.mark.bwrap
def test_a_foreign_build_runs_and_sees_nothing_of_this_machine(sources: Path, tmp_path: Path) -> None:
    made = locked()
    assert made.pins == ["odd==1.0", "tiny-lmr==1.0"]
    assert made.compiled == ("odd",)
    assert not (tmp_path / "mark").exists()


def test_without_a_sandbox_nothing_foreign_is_run(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "can_build", lambda: False)
    made = locked()
    assert made.pins == ["odd==1.0"] and made.compiled == ("odd",)
    assert "cannot be built here to learn what it needs" in made.note
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("UV_DEFAULT_INDEX", "https://me:word@index.example/simple"), ("UV_INDEX_WORK_PASSWORD", "word")],
)
def test_a_build_never_gets_a_password(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert not resolver.can_build()


def test_a_version_years_older_than_the_commit_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = {
        "stale": [Release("0.11", "2020-01-01"), Release("1.3", "2023-01-01")],
        "steady": [Release("1.0", "2015-01-01")],
    }
    declared = (Declared("stale", "stale<1", "r.txt:1"), Declared("steady", "steady", "r.txt:2"))
    recipe = Recipe(declared, date=datetime(2025, 9, 1, tzinfo=UTC))
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    with only_index(index, monkeypatch, tmp_path / "unused"):
        made = pin(recipe, choose_base(recipe, "me/base:1", "3.11"))
    assert made.old == ("stale==0.11 is 6 years older than the commit; 1.3 was the newest then",)


@pytest.mark.parametrize(("python", "full"), [("3.7", "3.7.17"), ("3.8", "3.8.20"), ("3.99", "3.99")])
def test_uv_gets_the_newest_patch_release(python: str, full: str) -> None:
    arguments = resolver._arguments(resolver.Resolution((), choose_base(Recipe(), "me/base:1", python)))
    assert arguments[arguments.index("--python-version") + 1] == full

"""Local environments: which Python, what is put in, and what a killed or second process leaves."""

from __future__ import annotations

import platform
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.runtime.environment import interpreters, venvs
from lmr_author.runtime.environment.interpreters import Interpreter, at
from lmr_author.runtime.sandbox import bubblewrap
from tests.support import make_task
from tests.wheels import wheel

OWN = Interpreter(Path(sys.executable), ".".join(map(str, sys.version_info[:3])))
HERE = {minor: Interpreter(Path(f"/p/{minor}"), f"{minor}.7") for minor in ("3.13", "3.11", "3.10", "3.8")}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def silent(_: str) -> None:
    """Nothing is shown."""


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, and no index."""
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    wheel(tmp_path / "wheels")
    return tmp_path / "wheels"


def made(lock: str, *extra: str) -> venvs.LocalEnvironment:
    """An environment for this Python."""
    return venvs.make(venvs.Contents(lock, OWN, extra), cuda=False, say=silent)


def task(folder: Path, lock: str) -> Task:
    """A task with a lock of its own."""
    found = make_task(folder)
    found.lock.write_text(lock)
    return found


@pytest.mark.parametrize(
    ("wanted", "asked", "chosen", "remark"),
    [
        ("3.11", None, "3.11", ""),
        ("3.10", "3.13", "3.13", ""),
        ("3.9", None, "3.10", "Python 3.9"),  # as near as 3.8, and newer
        ("3.14", None, "3.13", "Python 3.14"),
    ],
)
def test_the_nearest_python_is_chosen_with_a_remark(
    wanted: str, asked: str | None, chosen: str, remark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreters, "find", HERE.get)
    found, said = interpreters.choose(wanted, asked)
    assert found.minor == chosen
    assert remark in said and bool(remark) == bool(said)


def test_a_python_that_was_asked_for_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "find", HERE.get)
    with pytest.raises(
        LmrError, match=r"Python 3\.12 is not installed.*installed: 3\.11, 3\.10, 3\.13, 3\.8"
    ):
        interpreters.choose("3.11", "3.12")
    monkeypatch.setattr(interpreters, "find", {}.get)
    with pytest.raises(LmrError, match=r"Python 3\.11 is not installed"):
        interpreters.choose("3.11", None)


def test_pyenvs_versions_are_found_and_no_virtual_environment_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, versions = tmp_path / "mark", tmp_path / "pyenv" / "versions"
    environment = versions / "a-virtualenv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    program = environment / "bin" / f"python{OWN.minor}"
    program.unlink(missing_ok=True)
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    (versions / "plain" / "bin").mkdir(parents=True)
    (versions / "plain" / "bin" / f"python{OWN.minor}").symlink_to(base)
    monkeypatch.setenv("PYENV_ROOT", str(versions.parent))
    unreadable = f"/{'n' * 300}"  # root may read everything but this
    monkeypatch.setenv("PATH", f"{unreadable}/bin:{environment}/bin")
    monkeypatch.setattr(sys, "_base_executable", str(tmp_path / "tools" / "python3"))
    found = interpreters.find(OWN.minor)
    assert found is not None and found.path.samefile(base)
    assert not mark.exists()


@pytest.mark.bwrap
def test_folders_of_wheels_are_seen_whichever_setting_names_them(
    wheels: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("UV_FIND_LINKS")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{wheels.parent} {wheels}")
    assert made("tiny-lmr==1.0\n").made
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.delenv("UV_NO_INDEX")
    index = tmp_path / "index" / "tiny-lmr"
    index.mkdir(parents=True)
    [built] = wheels.iterdir()
    (index / built.name).write_bytes(built.read_bytes())
    (index / "index.html").write_text(f'<a href="{built.name}">{built.name}</a>')
    monkeypatch.setenv("UV_INDEX", f"own=file://{index.parent}")
    monkeypatch.setenv("UV_OFFLINE", "1")
    assert made("tiny-lmr==1.0\n", "tiny-lmr").made


def test_without_bubblewrap_wheels_alone_are_installed_and_nothing_is_started(
    wheels: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bubblewrap, "tools", lambda: None)
    mark = tmp_path / "mark"
    wheel(wheels, "planted", code=f"open({str(mark)!r}, 'w')\n", others={"planted.pth": "import planted\n"})
    first = made("planted==1.0\n", "tiny-lmr")
    assert not list(first.packages.glob("__pycache__/*"))
    made("planted==1.0\n", "tiny-lmr<2")
    assert at(first.python.path).version == OWN.version
    assert not mark.exists()
    subprocess.run([first.python.path, "-c", ""], check=True)
    assert mark.exists(), "the test shows nothing unless a start runs it"


@pytest.mark.parametrize("path", ["pyvenv.cfg", "bin/pyvenv.cfg"])
def test_a_package_that_changes_what_python_is_started_is_refused(wheels: Path, path: str) -> None:
    wheel(wheels, "planted", others={f"planted-1.0.data/data/{path}": "home = /elsewhere/bin\n"})
    with pytest.raises(LmrError, match="replaced the environment's Python"):
        made("planted==1.0\n")
    assert not list(venvs.folder().glob("*/pyvenv.cfg"))


def test_an_environment_is_made_once_for_all_that_ask_for_the_same(wheels: Path, cache: Path) -> None:
    first = made("tiny-lmr==1.0\n")
    assert first.made
    said = subprocess.check_output(
        [first.python.path, "-c", "import tiny_lmr; print(tiny_lmr.VALUE)"], text=True
    )
    assert said == "1\n"
    assert list(first.path.glob("lib/python*/site-packages/__pycache__/tiny_lmr.*.pyc")), (
        "no run can write it"
    )
    assert str(first.python.path) in (first.path / "bin" / "tiny").read_text()
    again = made("# another comment\ntiny-lmr==1.0\n")
    assert (again.path, again.made) == (first.path, False)
    assert made("tiny-lmr==1.0\n", "tiny-lmr==1.0").path != first.path


def test_tasks_with_one_lock_keep_their_own_environments(wheels: Path, tmp_path: Path) -> None:
    one, two, new = (task(tmp_path / name, "tiny-lmr==1.0\n") for name in ("one", "two", "new"))
    plain, with_extra = made("tiny-lmr==1.0\n"), made("tiny-lmr==1.0\n", "tiny-lmr==1.0")
    venvs.assign(one, plain)
    venvs.assign(two, with_extra)
    assert (venvs.find(one), venvs.find(two)) == (venvs.load(plain.path), venvs.load(with_extra.path))
    assert venvs.find(new) is None
    one.root.rename(tmp_path / "moved")
    assert venvs.find(Task(tmp_path / "moved")) == venvs.load(plain.path)
    two.lock.write_text("tiny-lmr==1.1\n")
    assert venvs.find(two) is None


def test_everything_that_is_asked_for_is_part_of_the_name() -> None:
    contents = venvs.Contents("numpy==1.0\n", OWN, ("pytest",))
    others = [
        replace(contents, lock="numpy==1.1\n"),
        replace(contents, python=Interpreter(OWN.path, "3.99.0")),
        replace(contents, extra=("pytest", "scipy")),
        replace(contents, added_files={"own-1.0.dist-info/METADATA": "Version: 1.0\n"}),
    ]
    assert len({contents.name, *(other.name for other in others)}) == 5
    same = replace(contents, lock="# a comment\nnumpy==1.0\n")
    assert same.name == contents.name


def test_what_is_asked_for_beside_the_lock_replaces_its_pin(wheels: Path) -> None:
    wheel(wheels, version="0.9")
    found = made("tiny-lmr==1.0\n", "tiny-lmr<1")
    assert list(found.path.glob("lib/python*/site-packages/tiny_lmr-0.9.dist-info"))


def test_what_cannot_be_installed_leaves_nothing_and_is_explained(wheels: Path, cache: Path) -> None:
    with pytest.raises(LmrError, match="tiny-lmr"):
        made("tiny-lmr==9\n")
    assert [path.name for path in (cache / "environments").iterdir()] == [".lock"]


def test_cuda_libraries_are_refused_before_they_are_fetched(wheels: Path, cache: Path) -> None:
    wheel(wheels, "nvidia_cublas_cu12")
    with pytest.raises(LmrError, match="CUDA") as caught:
        made("tiny-lmr==1.0\n", "nvidia-cublas-cu12==1.0")
    python = f"for Python {sys.version_info.major}.{sys.version_info.minor}"
    assert python in caught.value.message, (
        "a wheel for another Python is why a folder of wheels does not help"
    )
    assert (
        "UV_TORCH_BACKEND=cpu (PyTorch's own index) before the same command" in caught.value.hint
        and python in caught.value.hint
    )
    assert not list(venvs.folder().glob("*/pyvenv.cfg"))


def test_what_a_killed_process_left_is_not_used_and_made_anew(wheels: Path, cache: Path) -> None:
    first = made("tiny-lmr==1.0\n")
    (first.path / venvs.MANIFEST).unlink()
    (first.path / "half").touch()
    assert venvs.load(first.path) is None
    assert made("tiny-lmr==1.0\n").made
    assert not (first.path / "half").exists()


def test_two_at_once_make_one(wheels: Path) -> None:
    results: list[venvs.LocalEnvironment] = []
    threads = [threading.Thread(target=lambda: results.append(made("tiny-lmr==1.0\n"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(item.made for item in results) == [False, False, True]
    assert len({item.path for item in results}) == 1


def test_a_python_can_be_named_by_its_path(tmp_path: Path) -> None:
    found, said = interpreters.choose("3.7", sys.executable)
    assert at(Path(sys.executable)) == Interpreter(Path(sys.executable), platform.python_version())
    assert (found.version, said) == (platform.python_version(), "")
    assert found.path.samefile(sys.executable) and not (found.path.parent.parent / "pyvenv.cfg").exists()
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 2.7.18\n")
    for path in (other, tmp_path, tmp_path / "nothing"):
        with pytest.raises(LmrError, match="no Python"):
            interpreters.choose("3.7", str(path))
    other.chmod(0o755)
    with pytest.raises(LmrError, match="other is not a working Python"):
        interpreters.choose("3.7", str(other))

"""The Dockerfile: linted, and built by a real engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.runtime.environment.base_images import choose_base
from lmr_author.runtime.environment.dockerfile import render, render_dockerignore
from lmr_author.runtime.environment.needs import Needs, SystemPackage
from tests.support import write_files
from tests.wheels import wheel

BASE = "lmr-author/base:bookworm"


def docker(*arguments: str, check: bool = True) -> str:
    """Run docker and return what it prints."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.strip()


def make_context(root: Path, lock: str = "", *, pinned: bool = True, source_folder: str = "src") -> Path:
    """A task folder with what the build needs, and with what it must not send."""
    needs = Needs(source_folder=source_folder, project="the-repo", own_version="1.0")
    names = (
        "the-repo/src/pkg/__init__.py", "the-repo/src/pkg/__pycache__/x.pyc", "the-repo/data/expected.txt",
        "the-repo/unit_test/unit_test_1.py", "the-repo/unit_test/recordings/1/case_1/inputs.json",
        "the-repo/unit_test/recordings/1/case_1/expected.json", "the-repo/.git/config",
        "golden_files/a_golden.py", "authoring/provenance.json", "other/secret.txt",
    )  # fmt: skip
    own = {
        "Dockerfile": render(needs, choose_base(needs), "the-repo", pinned=pinned),
        ".dockerignore": render_dockerignore("the-repo"),
        "requirements.lock": lock or "# nothing\n",
    }
    return write_files(root, {**dict.fromkeys(names, "x = 1\n"), **own})


def test_what_a_repository_needs_is_in_its_dockerfile() -> None:
    java = SystemPackage("default-jre-headless", "it runs Java", "requirements.txt:1")
    compiler = SystemPackage("build-essential", "pyfast is compiled", "requirements.txt:1")
    official, other = choose_base(Needs()), choose_base(Needs(), "me/base:1")
    plain = render(Needs(), official, "a")
    assert f"ARG BASE_IMAGE={official.reference}\nFROM ${{BASE_IMAGE}}\n" in plain
    assert "--no-deps" in plain and "PYTHONPATH" not in plain
    assert "--no-deps" not in render(Needs(), official, "a", pinned=False)
    assert "mkdir -p /usr/share/man/man1" in render(Needs(system=(java,)), official, "a")
    compiled = render(Needs(), other, "a", compiled=["fast"])
    assert "mkdir -p /usr/share/man/man1" not in compiled and "        python3-dev \\\n" in compiled
    assert "python3-dev" not in render(Needs(), official, "a", compiled=["fast"]), (
        "PyTorch's images have them"
    )
    assert "        python3-dev \\\n" in render(Needs(system=(compiler,)), other, "a")


@pytest.mark.parametrize("name", ["", "a b", "../a", "a/b", "-a", ".git", "a\nRUN x", "${X}", 'a"'])
def test_only_plain_folder_names_go_in(name: str) -> None:
    with pytest.raises(LmrError):
        render(Needs(), choose_base(Needs()), name)
    with pytest.raises(LmrError):
        render_dockerignore(name)


def linted(dockerfile: str) -> str:
    """Return what hadolint reports; its binary is among the requirements of the tests."""
    program = shutil.which(
        "hadolint", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if program is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([program, "--no-color", "-"], input=dockerfile, capture_output=True, text=True)
    assert not done.stderr
    return done.stdout.strip()


SYSTEM = (SystemPackage("git", "a requirement", "requirements.txt:1"),)
REPOSITORIES = {
    "bare": Needs(),
    "with packages": Needs(system=SYSTEM, source_folder="src"),
    "told its version": Needs(project="the-repo", own_version="1.0"),
}


@pytest.mark.parametrize("needs", REPOSITORIES.values(), ids=REPOSITORIES)
@pytest.mark.parametrize("pinned", [True, False])
def test_hadolint_finds_nothing(needs: Needs, pinned: bool) -> None:
    assert linted(render(needs, choose_base(needs), "a", pinned=pinned)) == ""


@pytest.fixture
def tag() -> Iterator[str]:
    name = f"lmr-author/test-{uuid.uuid4().hex[:12]}"
    yield name
    docker("image", "rm", "--force", name, check=False)


def require_base() -> None:
    if not docker("image", "ls", "--quiet", BASE):
        from tests.conftest import REQUIRE_ALL

        (pytest.fail if REQUIRE_ALL else pytest.skip)(f"needs the image {BASE}: scripts/make-base-image")


@pytest.mark.docker
@pytest.mark.parametrize(("user", "group"), [(0, 0), (12345, 54321), (33, 100)])
def test_it_builds_for_any_user_and_sends_only_the_repository(
    tmp_path: Path, tag: str, user: int, group: int
) -> None:
    require_base()
    make_context(tmp_path)
    # As LMR-Bench's own script builds.
    ids = ["--build-arg", f"UID={user}", "--build-arg", f"GID={group}", "--build-arg", "DIR=the-repo"]
    docker("build", "--quiet", "--build-arg", f"BASE_IMAGE={BASE}", *ids, "--tag", tag, str(tmp_path))
    script = (
        "id -u; id -g; pwd; cd the-repo; touch unit_test/logs/x made; echo y=1 >> src/pkg/__init__.py; "
        "python -c 'import pkg, getpass; getpass.getuser(); print(pkg.__file__)'; "
        "python -c 'import importlib.metadata as m; print(m.version(\"the-repo\"))'; "
        "find /workspace -type f | sort"
    )
    printed = docker("run", "--rm", "--network", "none", tag, "sh", "-euc", script).splitlines()
    assert printed[:5] == [
        str(user),
        str(group),
        "/workspace",
        "/workspace/the-repo/src/pkg/__init__.py",
        "1.0",
    ]
    assert [name.removeprefix("/workspace/the-repo/") for name in printed[5:]] == [
        "data/expected.txt",
        "made",
        "src/pkg/__init__.py",
        "unit_test/logs/x",
        "unit_test/recordings/1/case_1/inputs.json",
        "unit_test/unit_test_1.py",
    ]


@pytest.mark.docker
def test_the_rest_of_the_task_is_not_even_sent_to_the_engine(tmp_path: Path, tag: str) -> None:
    require_base()
    make_context(tmp_path)
    (tmp_path / "Dockerfile").write_text(f"FROM {BASE}\nCOPY . /all\n")
    docker("build", "--quiet", "--tag", tag, str(tmp_path))
    assert set(docker("run", "--rm", tag, "ls", "-A", "/all").split()) <= {
        ".dockerignore",
        "Dockerfile",
        "requirements.lock",
        "the-repo",
    }


@pytest.mark.docker
@pytest.mark.parametrize("pinned", [True, False])
def test_the_lock_is_installed_and_the_images_torch_stays_usable(
    tmp_path: Path, tag: str, pinned: bool
) -> None:
    """Wheels made here stand in for the index, so that this needs no network.

    The image has a "torch" 9.8 that needs tiny 2. A lock that pins tiny 1 is put right again; one that
    is not pinned is resolved so that neither tiny nor torch (there is a newer one) changes.
    """
    require_base()
    wanted = "==1.0" if pinned else ">=1"
    make_context(tmp_path, f"# a comment\nlmrtiny{wanted}\nlmrother==1.0\n", pinned=pinned)
    dockerfile = (tmp_path / "Dockerfile").read_text()
    copied = "COPY requirements.lock /opt/lmr-author/requirements.lock\n"
    assert copied in dockerfile
    wheels = tmp_path / "the-repo" / "wheels"
    for name, version, requires in (
        ("lmrtiny", "1.0", ""), ("lmrtiny", "2.0", ""), ("lmrtiny", "3.0", ""), ("lmrother", "1.0", ""),
        ("torch", "9.8", "lmrtiny<3,>=2"), ("torch", "9.9", ""),
    ):  # fmt: skip
        wheel(wheels, name, version, f"X = {version!r}\n", requires=requires)
    extra = (
        "COPY the-repo/wheels /wheels\nENV PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels\n"
        "RUN python3 -m pip install torch==9.8\n"
    )
    (tmp_path / "Dockerfile").write_text(dockerfile.replace(copied, extra + copied))
    docker("build", "--quiet", "--build-arg", f"BASE_IMAGE={BASE}", "--tag", tag, str(tmp_path))
    code = "import torch, lmrother, lmrtiny; print(torch.X, lmrother.X, lmrtiny.X)"
    assert docker("run", "--rm", tag, "python", "-c", code) == "9.8 1.0 2.0"

"""Choosing a sandbox, GPUs for containers, and names of images."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.core.errors import SandboxError, UsageError
from lmr_author.runtime.environment.build import sandbox_of
from lmr_author.runtime.sandbox import image_tag
from lmr_author.runtime.sandbox.docker import DockerSandbox
from tests.support import make_task

# https://github.com/distribution/reference: a repository's path component
COMPONENT = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*")


def test_tasks_of_one_name_have_a_tag_each_however_their_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tmp_path / "a" / "1-DPO", tmp_path / "b" / "1-DPO"
    one.mkdir(parents=True)
    (tmp_path / "link").symlink_to(one)
    monkeypatch.chdir(tmp_path)
    assert re.fullmatch(r"lmr-author/1-dpo-[0-9a-f]{8}:latest", image_tag("1-DPO", one))
    assert image_tag("1-DPO", one) != image_tag("1-DPO", other)
    assert image_tag("1-DPO", one) == image_tag("1-DPO", Path("a/1-DPO")) == image_tag("1-DPO", Path("link"))


@given(st.text())
def test_every_tag_is_valid(name: str) -> None:
    repository, _, version = image_tag(name, Path("/tasks")).removeprefix("lmr-author/").partition(":")
    assert COMPONENT.fullmatch(repository)
    assert (len(repository) <= 109, version) == (True, "latest")


def test_kinds(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    for kind, name in (("local", "local"), ("auto", "local"), ("docker", "docker")):
        assert sandbox_of(task, task.load(), kind).name == name
    for kind, gpus in (("podman", ""), ("local", "1"), ("docker", "0"), ("docker", "many")):
        with pytest.raises(UsageError) as caught:
            sandbox_of(task, task.load(), kind, gpus=gpus)
        assert caught.value.hint


@pytest.mark.docker
def test_an_engine_without_a_gpu_runtime_is_a_clear_error(context: Path, tag: str) -> None:
    if shutil.which("nvidia-container-runtime"):
        pytest.skip("this engine has one")
    with (
        DockerSandbox(context, tag=tag, build_args={}, gpus="all") as box,
        pytest.raises(SandboxError, match="cannot give a container a GPU") as error,
    ):
        box.prepare()
    assert "NVIDIA Container Toolkit" in error.value.hint


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from lmr_author.runtime.sandbox.docker import DockerSandbox\n"
        "DockerSandbox(Path('.'), tag='x', build_args={})\n"
        "print([name for name in ('docker', 'requests', 'urllib3') if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code]) == b"[]\n"

"""Choosing a sandbox by name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.errors import UsageError
from lmr_author.sandbox import image_tag, open_sandbox

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
    for kind, name in (("local", "local"), ("auto", "local"), ("docker", "docker")):
        assert open_sandbox(kind, context=tmp_path, name="1-DPO", repo_folder="dpo").name == name
    with pytest.raises(UsageError) as caught:
        open_sandbox("podman", context=tmp_path, name="x")
    assert "local, docker, auto" in caught.value.hint


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = (
        "import sys; from pathlib import Path; from lmr_author.sandbox import open_sandbox\n"
        "for kind in ('docker', 'local'): open_sandbox(kind, context=Path('.'), name='x')\n"
        "print([name for name in ('docker', 'requests', 'urllib3') if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code]) == b"[]\n"

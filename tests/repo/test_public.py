"""The public address of a local clone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lmr_author.repo import Address, public_address
from tests.gitrepos import make_repository

LINKED = ("https://github.com/else/thing", "https://github.com/some/Code")


@pytest.mark.parametrize(
    ("origin", "public"),
    [
        ("https://github.com/some/code.git", "https://github.com/some/code.git"),
        ("https://me:secret@github.com/some/code", "https://github.com/some/code"),
        ("git@github.com:some/code.git", "https://github.com/some/code.git"),
        ("/", "https://github.com/some/Code"),
        ("/somewhere/here", "https://github.com/some/Code"),
        ("ext::sh -c true", "https://github.com/some/Code"),
        ("", "https://github.com/some/Code"),
    ],
)
def test_the_origin_else_the_link_of_the_same_name(tmp_path: Path, origin: str, public: str) -> None:
    folder = tmp_path / "code"
    make_repository(folder, {"a.py": "x = 1\n"})
    if origin:
        subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", origin], check=True)
    assert public_address(Address.parse(str(folder)), LINKED) == public
    assert public_address(Address.parse(folder.as_uri()), LINKED) == public


def test_what_is_public_or_unknown(tmp_path: Path) -> None:
    assert public_address(Address.parse("https://x.org/a/b"), LINKED) == "https://x.org/a/b"
    make_repository(tmp_path / "other", {"a.py": "x = 1\n"})
    assert public_address(Address.parse(str(tmp_path / "other")), LINKED) == ""

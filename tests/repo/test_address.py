"""Addresses of repositories: allowed, refused, shown, named, and the public one of a local clone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.core.errors import LmrError
from lmr_author.core.repo.address import Address, public_address, safe_name
from tests.gitrepos import git, make_repository


@pytest.mark.parametrize(
    ("text", "shown", "name"),
    [
        ("https://github.com/a/b", "https://github.com/a/b", "b"),
        ("https://me:token@github.com/a/b.git", "https://github.com/a/b.git", "b"),
        ("https://token@github.com/a/b?x=1", "https://github.com/a/b", "b"),
        ("ssh://git:pw@host:2222/a/b", "ssh://git@host:2222/a/b", "b"),
        ("git@github.com:owner/My-Repo.git", "git@github.com:owner/My-Repo.git", "My-Repo"),
        ("git://host/a/b.c", "git://host/a/b.c", "b.c"),
    ],
)
def test_allowed_addresses(text: str, shown: str, name: str) -> None:
    address = Address.parse(text)
    assert (address.git, address.shown, address.folder_name, address.local) == (text, shown, name, False)


@pytest.mark.parametrize(
    "text",
    [
        "ext::sh -c touch% /tmp/x",
        "fd::17",
        "--upload-pack=touch /tmp/x",
        "ftp://host/a",
        "ssh://-oProxyCommand=touch/a",
        "-oProxyCommand=x:y",
        "host:-x",
        "https:///a/b",
        "https://host:99999/a",
        "file://other-machine/a",
        "file:///no/such/folder",
        "https://host/a\nb",
        "https://host/\x1b[2Jb",
        "",
        "no-such-folder",
        "x" * 300,
        "file:///" + "x" * 300,
    ],
)
def test_refused_addresses(text: str) -> None:
    with pytest.raises(LmrError) as caught:
        Address.parse(text)
    assert caught.value.hint
    assert "\x1b" not in caught.value.message


def test_a_forgotten_scheme_is_suggested() -> None:
    with pytest.raises(LmrError) as caught:
        Address.parse("karpathy/nanoGPT")
    assert "https://github.com/karpathy/nanoGPT" in caught.value.hint


def test_folders_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my räpo +x" / "repo").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    address = Address.parse("my räpo +x/repo")
    assert address.local
    assert address.git.startswith("file:///")
    assert address.folder_name == "my-r-po-x"
    as_url = Address.parse(f"file://{tmp_path}/my räpo +x/repo")
    assert (as_url.git, as_url.shown) == (address.git, f"file://{tmp_path}/my räpo +x/repo")


def test_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    assert Address.parse(str(folder)).folder == folder
    assert Address.parse(Address.parse(str(folder)).git).folder == folder


@pytest.mark.parametrize(
    ("base", "relative", "expected"),
    [
        ("https://h/a/b.git", "../c.git", "https://h/a/c.git"),
        ("https://h/a/b/", "../../x/c", "https://h/x/c"),
        ("https://h/a/b", "./c", "https://h/a/b/c"),
        ("git@h:a/b.git", "../c.git", "git@h:a/c.git"),
    ],
)
def test_addresses_of_submodules(base: str, relative: str, expected: str) -> None:
    assert Address.parse(base).relative(relative).git == expected


def test_a_submodule_cannot_name_a_folder_of_this_machine(tmp_path: Path) -> None:
    for base in ("https://h/a", f"file://{tmp_path}"):
        for url in (str(tmp_path), tmp_path.as_uri()):
            with pytest.raises(LmrError, match="folder on this machine"):
                Address.parse(base).relative(url)
    with pytest.raises(LmrError, match="not allowed"):
        Address.parse("https://h/a").relative("ext::sh -c x")


@given(st.text())
def test_safe_names_are_safe(text: str) -> None:
    name = safe_name(text)
    assert all(char.isascii() and (char.isalnum() or char in "._-") for char in name)
    assert not name or (name[0].isalnum() and len(name) <= 80)
    assert safe_name(name) == name


@given(st.text(min_size=1))
def test_any_text_is_an_address_or_an_error_with_a_hint(text: str) -> None:
    try:
        address = Address.parse(text)
    except LmrError as error:
        assert error.hint
    else:
        assert not address.git.startswith("-")
        assert address.shown.isprintable()


LINKED = ("https://github.com/else/thing", "https://github.com/some/Code")


@pytest.mark.parametrize(
    ("origin", "public"),
    [
        ("https://github.com/some/code.git", "https://github.com/some/code.git"),
        ("https://me:secret@github.com/some/code", "https://github.com/some/code"),
        ("git@github.com:some/code.git", "https://github.com/some/code.git"),
        ("/somewhere/here", "https://github.com/some/Code"),
        ("ext::sh -c true", "https://github.com/some/Code"),
        ("", "https://github.com/some/Code"),
    ],
)
def test_the_origin_else_the_link_of_the_same_name(tmp_path: Path, origin: str, public: str) -> None:
    folder = tmp_path / "code"
    make_repository(folder, {"a.py": "x = 1\n"})
    if origin:
        git(folder, "remote", "add", "origin", origin)
    assert public_address(Address.parse(folder.as_uri()), LINKED) == public


def test_what_is_public_or_unknown(tmp_path: Path) -> None:
    assert public_address(Address.parse("https://x.org/a/b"), LINKED) == "https://x.org/a/b"
    make_repository(tmp_path / "other", {"a.py": "x = 1\n"})
    assert public_address(Address.parse(str(tmp_path / "other")), LINKED) == ""

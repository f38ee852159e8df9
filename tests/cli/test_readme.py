"""The commands in README.md and the tutorial are commands of the program, with options that it has."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lmr_author.cli.app import ENV_COMMANDS, VERBS, command
from tests.cli.program import ROOT

README = ROOT / "README.md"
PAGES = (README, *sorted(set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "commands.md"}))
"""What people wrote: the reference of the commands is generated from them."""


def shell_blocks(page: Path) -> list[list[str]]:
    """The lines of each fenced ``sh`` block; a line that ends in a backslash goes on."""
    fenced = re.findall(r"^( *)```sh\n(.*?)^ *```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [
        [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]
        for _, text in fenced
    ]


def typed_commands(page: Path) -> list[list[str]]:
    """Every command of lmr-author on a page, in blocks and in the text, split as a shell splits it."""
    text = page.read_text("utf-8")
    inline = re.findall(r"`((?:lmr-author )[^`\n]+)`", text)
    lines = [line for block in shell_blocks(page) for line in block]
    split = [shlex.split(line.replace("…", "..."), comments=True) for line in [*lines, *inline]]
    return [words[1:] for words in split if words[:1] == ["lmr-author"] and len(words) > 1]


@cache
def options(verb: str, own: str = "") -> dict[str, Any]:
    """The options of a verb, or of a group's own command, by each of their names."""
    found = command(verb)
    if own:
        found = found.get_command(None, own)
    return {name: item for item in found.params for name in item.opts if name.startswith("-")}


def test_the_set_up_lines() -> None:
    first, second = (block for block in shell_blocks(README)[:2])
    assert len(first) == len(second) == 1
    assert first[0].endswith("lmr-author demo")
    assert second[0].endswith("/pytest -n auto --dist loadfile")
    for line in (first[0], second[0]):
        assert line.startswith("python3 -m venv .venv && .venv/bin/pip install ")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_parses(page: Path) -> None:
    found = typed_commands(page)
    assert len(found) >= 7 or page != README
    for verb, *words in found:
        assert verb in VERBS or verb.startswith("-"), verb
        inner = words[0] if verb == "env" and words else ""
        assert not inner or inner.startswith("-") or inner in ENV_COMMANDS, inner
        own = words[: words.index("--")] if "--" in words else words
        unknown = [
            word.partition("=")[0]
            for word in own
            if word.startswith("-") and word.partition("=")[0] not in {*options(verb, inner), "--help"}
        ]
        assert unknown == [], f"lmr-author {verb} has no {unknown}"


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "tutorial-dpo.md"], ids=lambda page: page.name)
def test_every_category_named_is_one(page: Path) -> None:
    from lmr_author.task import CATEGORIES

    named = [words[words.index("--category") + 1] for words in typed_commands(page) if "--category" in words]
    assert named and set(named) <= set(CATEGORIES)


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        text = re.sub(
            r"^ *```.*?^ *```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"

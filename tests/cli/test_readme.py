"""The commands in README.md and the tutorial are commands of the program, with options that it has."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lmr_author.cli.app import ENV_COMMANDS, VERBS, command
from tests.cli.conftest import Demo
from tests.cli.program import ENVIRONMENT, ROOT

README = ROOT / "README.md"
FIRST = ROOT / "docs" / "first-task.md"
PAGES = (README, *sorted(set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "commands.md"}))
"""What people wrote: the reference of the commands is generated from them."""


LONG = ("lmr-author record tailcon/losses.py::margin_focal_contrast", "lmr-author evaluate")


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
    """Pasted in this order; .ci/run takes the first and the last from the page, too."""
    demo, activate, *_, tests = shell_blocks(README)
    assert demo == ["python3 -m venv .venv && .venv/bin/pip install --quiet . && .venv/bin/lmr-author demo"]
    assert activate == [". .venv/bin/activate"]
    assert len(tests) == 1
    assert tests[0].startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert tests[0].endswith("/pytest -n auto --dist loadfile")


def test_a_newcomer_can_paste_the_six_commands(demo: Demo, tmp_path: Path) -> None:
    """In the folder that the demo leaves; what takes long is, word for word, what the demo's own test types."""
    (six,) = shell_blocks(FIRST)
    verbs = [line.split()[1] for line in six if line.startswith("lmr-author ")]
    assert verbs == ["new-task", "mask", "record", "validate", "evaluate", "review"]
    typed = {words[1]: words for words in demo.commands if words[0] == "lmr-author"}
    for line in six:
        words = shlex.split(line)
        if words[:2] in (["lmr-author", "record"], ["lmr-author", "evaluate"]):
            assert words == typed[words[1]]

    script = [line for line in six if line.partition(" --")[0] not in LONG and " review " not in line]
    (tmp_path / "lmr-author-demo").mkdir()
    for name in ("paper.pdf", "tailcon"):
        os.symlink(demo.folder / name, tmp_path / "lmr-author-demo" / name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(script)],
        cwd=tmp_path,
        env={**ENVIRONMENT, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    # Only what the two that are left out make is missing.
    assert "masked tailcon/losses.py::margin_focal_contrast" in done.stderr, done.stderr
    assert done.returncode == 1 and set(re.findall(r"error (LMR\d+)", done.stdout)) == {"LMR501"}, done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_parses(page: Path) -> None:
    found = typed_commands(page)
    assert len(found) >= 6 or page not in (README, FIRST)
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


@pytest.mark.parametrize("page", [FIRST, ROOT / "docs" / "tutorial-dpo.md"], ids=lambda page: page.name)
def test_every_category_named_is_one(page: Path) -> None:
    from lmr_author.core.task import CATEGORIES

    named = [words[words.index("--category") + 1] for words in typed_commands(page) if "--category" in words]
    assert named and set(named) <= set(CATEGORIES)


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        text = re.sub(
            r"^ *```.*?^ *```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"

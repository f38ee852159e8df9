"""Values that a stranger wrote into info.json are data in every file of every export."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.release.export.export import export
from lmr_author.release.export.options import ExportOptions

HOSTILE = [
    "MIT\ntags:\n- pwned",
    '"\n[evil]\nx = "<script>alert(1)</script> | x |\n\n# heading [click](https://evil.example) `code`',
    "'; touch pwned; '\x00\x7f\\ =1+1",
]
FIELDS = ("paper_name", "paper_url", "repo_url", "repo_commit", "license")


def hostile(task: Task, text: str) -> None:
    raw = task.load_raw()
    raw |= dict.fromkeys(FIELDS, text)
    raw["folder_name"] = "another"
    raw["implementations"][0] |= {"instruction": text, "category": text, "retrieval_context": [text]}
    task.info_path.write_text(json.dumps(raw))


def exported(task: Task, to: str, out: Path) -> Path:
    export([task], ExportOptions(to, out / to, force=True))
    return out / to


def front_matter(card: str) -> dict[str, Any]:
    return dict(yaml.safe_load(card.split("---\n")[1]))


@pytest.mark.parametrize("text", HOSTILE)
def test_every_value_is_data(example: Task, tmp_path: Path, text: str) -> None:
    benign = exported(example, "huggingface", tmp_path / "benign")
    hostile(example, text)

    for document in (
        json.loads((exported(example, "agent", tmp_path) / example.name / "task.json").read_text()),
        json.loads((exported(example, "lmr-bench", tmp_path) / example.name / "info.json").read_text()),
    ):
        assert document["paper_name"] == document["implementations"][0]["instruction"] == text
        assert document["folder_name"] == example.name

    harbor = exported(example, "harbor", tmp_path) / f"{example.name}-1"
    config = tomllib.loads((harbor / "task.toml").read_text())
    assert set(config) == {
        "schema_version",
        "artifacts",
        "task",
        "metadata",
        "agent",
        "verifier",
        "environment",
    }
    assert config["metadata"]["license"] == config["metadata"]["category"] == text
    assert config["task"]["description"].endswith(text)
    *_, copy = (harbor / "solution" / "solve.sh").read_text().splitlines()
    assert shlex.split(copy)[:2] == ["cp", "/solution/golden"] and len(shlex.split(copy)) == 3

    hub = exported(example, "huggingface", tmp_path)
    card, before = (hub / "README.md").read_text(), (benign / "README.md").read_text()
    assert front_matter(card) == front_matter(before) | {"license": "other"}
    tokens = MarkdownIt("commonmark").enable("table").parse(card.split("---\n", 2)[2])
    assert "html_block" not in {token.type for token in tokens}
    [citation] = [token.content for token in tokens if token.type == "fence"]
    assert citation in before, "the one fence holds nothing that a stranger wrote"
    inline = {part.type for token in tokens for part in token.children or ()}
    assert inline.isdisjoint({"html_inline", "link_open", "image"})
    headings = [
        token.content
        for token, after in zip(tokens[1:], tokens, strict=False)
        if after.type == "heading_open"
    ]
    assert headings == ["Research code to implement from papers", "Datasheet", "Assessment", "Citation"]
    cells = [token.content for token in tokens if token.type == "inline"]
    assert "pwned" not in cells
    for name in ("implementations", "papers"):
        [row] = [json.loads(line) for line in (hub / "data" / f"{name}.jsonl").read_text().splitlines()]
        assert row["license"] == text and row["paper_name"] == text
    assert json.loads((hub / "croissant.json").read_text())["license"] == [text]


def test_half_a_character_is_refused_with_a_message(example: Task, tmp_path: Path) -> None:
    hostile(example, "MIT\ud800")
    for to in ("agent", "lmr-bench", "harbor", "huggingface"):
        with pytest.raises(LmrError, match="lone surrogate"):
            exported(example, to, tmp_path)
        assert not re.findall("out|partial", " ".join(path.name for path in tmp_path.iterdir()))


def test_the_folder_of_the_tasks_is_not_written_to(example: Task, tmp_path: Path) -> None:
    for out in (example.root.parent / "10-new", example.root.parent / "deep" / "out"):
        with pytest.raises(LmrError, match="folder of the tasks") as caught:
            export([example], ExportOptions("lmr-bench", out, force=True))
        place = Path(caught.value.hint.removeprefix("choose another: "))
        assert place.resolve() == tmp_path / out.name

"""The hub's own clients read the data set, offline."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

from lmr_author.core.task import Task
from tests.cli.program import succeed
from tests.review.reviewing import said
from tests.support import make_task

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


@pytest.fixture
def dataset(example: Task, tmp_path: Path) -> Path:
    """The example task and one that is not sound, whose first row has no context and no year."""
    task = make_task(example.root.parent, "0-Plain")
    succeed("mask", "pkg/losses.py::hinge", "--category", "Evaluation Metrics", "--no-input", cwd=task.root)
    info = task.load_raw()
    info["year"], info["implementations"][0]["retrieval_context"] = 0, []
    task.info_path.write_text(json.dumps(info))
    raw = example.load_raw()
    example.info_path.write_text(json.dumps(raw | {"paper_license": "CC-BY-4.0"}))
    for name in ("ada", "bo", "cy"):
        said(example, name)
    out = tmp_path / "dataset"
    given = (
        "--release-version",
        "2.1.0",
        "--organization",
        "my-lab",
        "--author",
        "Ada & Co",
        "--author",
        "Bo",
    )
    succeed(
        "export", example.root.parent, "--to", "huggingface", "--out", out, "--force", *given, cwd=tmp_path
    )
    return out


def client(code: str, *arguments: str | Path, home: Path, warnings: bool = True) -> str:
    """Run a client in a process of its own: its caches are its own. ``warnings``: whether it may print any."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "HF_HOME": str(home / "hf"), **OFFLINE},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert warnings or "W" not in [line[:1] for line in done.stderr.splitlines()], done.stderr
    return done.stdout


def test_the_card_has_the_assessment_that_lies_beside_it(dataset: Path) -> None:
    items = yaml.safe_load((dataset / "assessment.yaml").read_text())
    card = (dataset / "README.md").read_text()
    assert "not in 0-Plain" in items["T.9"]["reason"]
    for name, item in items.items():
        assert f"| {name} | {item['check']} | {item['score']} |" in card


def test_datasets_loads_both_tables_with_the_declared_types(dataset: Path, tmp_path: Path) -> None:
    code = """
import json, sys
from datasets import load_dataset
found = {}
for name in ("implementations", "papers"):
    table = load_dataset(sys.argv[1], name, split="test")
    found[name] = [dict(row) for row in table]
    found[name + " types"] = {key: str(value) for key, value in table.features.items()}
print(json.dumps(found))
"""
    found = json.loads(client(code, dataset, home=tmp_path))
    plain, example = found["implementations"]
    assert (plain["id"], plain["year"], plain["context"]) == ("0-Plain/1", None, [])
    assert plain["problems"] and not example["problems"]
    assert [item["path"] for item in example["context"]] == ["prefopt/model.py", "train.py"]
    assert "raise NotImplementedError" in example["masked_file"]
    assert "float64" in found["papers types"]["agreement"]
    assert [row["task"] for row in found["papers"]] == ["0-Plain", "1-rating-margin"]


def test_croissant_validates_and_its_records_can_be_read(dataset: Path, tmp_path: Path) -> None:
    code = """
import sys
import mlcroissant
dataset = mlcroissant.Dataset(jsonld=sys.argv[1])
for name in ("implementations", "papers"):
    for record in dataset.records(name):
        print(record[name + "/task"])
"""
    printed = client(code, dataset / "croissant.json", home=tmp_path)
    assert printed.count("b'1-rating-margin'") == 2
    validate = "from mlcroissant.scripts.validate import main; from absl import app; app.run(main)"
    client(validate, "--jsonld", dataset / "croissant.json", home=tmp_path, warnings=False)


def test_version_citation_and_licences_are_in_card_and_croissant(dataset: Path) -> None:
    card, described = (
        (dataset / "README.md").read_text(),
        json.loads((dataset / "croissant.json").read_text()),
    )
    assert described["version"] == "2.1.0" and "| Version | 2.1.0 |" in card
    assert described["citeAs"] in card and r"author = {{Ada \& Co} and {Bo}}" in described["citeAs"]
    assert [one["name"] for one in described["creator"]] == ["Ada & Co", "Bo"]
    assert "Licences of the papers: CC-BY-4.0." in described["description"] and "| CC-BY-4.0 | 1 |" in card


def test_a_row_says_where_its_file_is(dataset: Path) -> None:
    for line in (dataset / "data" / "implementations.jsonl").read_text().splitlines():
        row = json.loads(line)
        with tarfile.open(dataset / row["archive"]) as archive:
            member = archive.extractfile(f"{row['task']}/{row['repo_folder_name']}/{row['goal_file']}")
            assert member is not None and member.read().decode() == row["masked_file"]


def test_the_card_says_what_is_not_sound_and_counts_what_there_is(dataset: Path) -> None:
    card = (dataset / "README.md").read_text()
    assert "Not fit for release" in card and "**0-Plain**" in card and "**1-rating-margin**" not in card
    assert "| Implementations | 2 |" in card
    assert "| Training Objectives & Optimization | 1 |" in card
    assert "| MIT | 1 |" in card and "| unknown | 1 |" in card
    assert "| Agreement of reviewers | 100 % |" in card

"""The hub's own clients read the data set, offline."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

from lmr_author.core.repo.citations import month_of_preprint
from tests.cli.program import succeed
from tests.export.conftest import EXAMPLE
from tests.review.reviewing import all_said
from tests.support import make_task, starter

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example task and one that is not sound, whose first row has no context and no year."""
    folder = tmp_path_factory.mktemp("dataset")
    example = starter(EXAMPLE.name, folder / "tasks")
    task = make_task(example.root.parent, "0-Plain")
    succeed("mask", "pkg/losses.py::hinge", "--category", "Evaluation Metrics", "--no-input", cwd=task.root)
    info = task.load_raw()
    info["year"], info["implementations"][0]["retrieval_context"] = 0, []
    task.info_path.write_text(json.dumps(info))
    raw = example.load_raw()
    example.info_path.write_text(json.dumps(raw | {"paper_license": "CC-BY-4.0"}))
    all_said(example)
    out = folder / "dataset"
    command = ("export", example.root.parent, "--to", "huggingface", "--out", out, "--force")
    publisher = ("--organization", "my-lab", "--author", "Ada & Co", "--author", "Bo")
    succeed(*command, "--release-version", "2.1.0", *publisher, cwd=folder)
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
print(json.dumps(found, default=str))
"""
    found = json.loads(client(code, dataset, home=tmp_path))
    plain, example = found["implementations"]
    assert (plain["id"], plain["year"], plain["context"]) == ("0-Plain/1", None, [])
    assert plain["problems"] and not example["problems"]
    assert [item["path"] for item in example["context"]] == ["prefopt/model.py", "train.py"]
    assert "raise NotImplementedError" in example["masked_file"]
    assert "float64" in found["papers types"]["agreement"]
    # A reader compares them with a model's cutoff: what is not known is null in the first rows, too.
    assert example["commit_date"] == "2026-02-02" and example["paper_date"] is None
    assert found["implementations types"]["commit_date"] == "Value('date32')"
    assert found["implementations types"]["answers_tried"] == "Value('int64')"
    assert plain["answers_tried"] is None and example["answers_tried"] is None
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


def test_croissant_says_what_conferences_ask_of_responsible_data(dataset: Path, tmp_path: Path) -> None:
    fields = ("data_collection", "data_biases", "data_limitations", "data_use_cases", "data_social_impact",
              "personal_sensitive_information")  # fmt: skip
    code = """
import sys
import mlcroissant
metadata = mlcroissant.Dataset(jsonld=sys.argv[1]).metadata
print([name for name in sys.argv[2:] if not getattr(metadata, name)], *metadata.conforms_to)
"""
    printed = client(code, dataset / "croissant.json", *fields, home=tmp_path)
    assert printed.split() == [
        "[]",
        "http://mlcommons.org/croissant/1.0",
        "http://mlcommons.org/croissant/RAI/1.0",
    ]
    described = json.loads((dataset / "croissant.json").read_text())
    assert described["rai:hasSyntheticData"] is False and described["prov:wasGeneratedBy"]
    sources = {source["prov:label"]: source.get("license") for source in described["prov:wasDerivedFrom"]}
    assert sources["1-rating-margin: repository"] == "MIT"
    assert sources["1-rating-margin: paper"] == "CC-BY-4.0"


def test_a_leaderboard_is_of_the_split_and_table_that_there_are(dataset: Path) -> None:
    """As the hub's documentation of Evaluation Results describes `eval.yaml`, in November 2026."""
    benchmark = yaml.safe_load((dataset / "eval.yaml").read_text())
    assert {"name", "description", "tasks", "evaluation_framework"} == set(benchmark)
    assert benchmark["evaluation_framework"] == "harbor"
    [task] = benchmark["tasks"]
    front = yaml.safe_load((dataset / "README.md").read_text().split("---\n")[1])
    [config] = [each for each in front["configs"] if each["config_name"] == task["config"]]
    assert config["data_files"][0]["split"] == task["split"] == "test"


@pytest.mark.parametrize(
    ("arxiv_id", "month"),
    [("2305.18290v2", "2023-05"), ("cs/0112017", "2001-12"), ("hep-th/9901001v3", "1999-01"), ("", None),
     ("2313.00001", None)],
)  # fmt: skip
def test_an_arxiv_identifier_dates_a_paper(arxiv_id: str, month: str | None) -> None:
    assert month_of_preprint(arxiv_id) == month


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

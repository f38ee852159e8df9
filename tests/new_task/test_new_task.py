"""A new task is complete; what was given wins."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from lmr_author.authoring.new_task.new_task import default_name
from lmr_author.authoring.vetting.vet import open_questions
from lmr_author.core import files, resources
from lmr_author.core.task import Task
from lmr_author.core.task.reviews import VettingRecord
from lmr_author.runtime.environment.lock import lock
from lmr_author.runtime.environment.lock_file import LockOptions
from tests.gitrepos import add_link, commit, git, tree
from tests.new_task.making import make, refused
from tests.servers import Release, package_index


def test_a_task_is_complete_and_valid(tmp_path: Path, pdf: Path, source: Path) -> None:
    made = make(tmp_path, pdf, source)
    assert made.task.root == tmp_path / "tasks" / "1-PWT"
    assert tree(made.task.root) == [
        ".dockerignore",
        "Dockerfile",
        "authoring/provenance.json",
        "authoring/vetting.json",
        "info.json",
        "pair-wins/README.md",
        "pair-wins/paper.json",
        "pair-wins/paper.pdf",
        "pair-wins/requirements.txt",
        "pair-wins/train.py",
        "requirements.lock",
    ]
    assert (made.task.root / "golden_files").is_dir()
    assert (made.task.root / "pair-wins" / "unit_test").is_dir()
    info = Task(made.task.root).load()
    assert info == made.info
    assert (info.instance_id, info.year, info.folder_name) == (1, 2023, "1-PWT")
    assert info.paper_name == "Pairwise Wins in Text: Learning from Pairs"
    assert info.paper_url == "https://arxiv.org/abs/2305.18290v2"
    assert info.repo_commit == git(source, "rev-parse", "HEAD")
    assert json.loads(made.task.paper_json(info).read_text())["2"].startswith("Page 2")
    assert made.task.paper_pdf(info).read_bytes() == pdf.read_bytes()
    assert "ARG BASE_IMAGE=pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime" in made.task.dockerfile.read_text()
    assert "\nnumpy>=1.20\n" in made.task.lock.read_text()


def test_the_folder_of_a_clone_is_called_as_the_repository_is(
    tmp_path: Path, pdf: Path, source: Path
) -> None:
    made = make(tmp_path, pdf, source, repo_url="https://git.example/lab/Pair-Wins-2.git")
    assert made.info.repo_folder_name == "Pair-Wins-2"
    named = make(tmp_path, pdf, source, repo_url="https://git.example/lab/Pair-Wins-2", repo_folder="mine")
    assert named.info.repo_folder_name == "mine"


def test_notebooks_and_python_2_are_named_in_the_task_and_its_vetting(
    tmp_path: Path, pdf: Path, source: Path
) -> None:
    commit(source, {"a.ipynb": "{}", "old.py": "import ConfigParser\nprint 'x'\n"})
    made = make(tmp_path, pdf, source)
    evidence = json.loads(made.task.vetting_path.read_text())["questions"]["clarity_and_complexity"][
        "evidence"
    ]
    for lines in (made.notes, evidence):
        assert sum("not read (a.ipynb)" in line or "Python 2 (old.py)" in line for line in lines) == 2
    assert "ConfigParser" not in made.task.lock.read_text()


def test_the_vetted_address_of_a_local_clone_is_used(tmp_path: Path, pdf: Path, source: Path) -> None:
    commit(source, {"a.ipynb": "{}"})
    questions = open_questions({})
    for number, (vetted, url) in enumerate(
        (("https://git.example/lab/pairs", ""), (str(source), "https://x.example/p"))
    ):
        path = tmp_path / f"vetting{number}.json"
        VettingRecord(status="open", repository=vetted, questions=questions).write(path)
        given = {"repo_url": url} if url else {}
        made = make(tmp_path, pdf, source, vetting=path, **given)
        assert made.info.repo_url == (url or vetted)
        assert not any("a.ipynb" in note for note in made.notes), "vet has named it"


def test_the_records_are_valid(tmp_path: Path, pdf: Path, source: Path) -> None:
    commit(source, {"LICENSE": "Mozilla Public License Version 2.0", "x.pyc": b"x"})
    made = make(tmp_path, pdf, source)
    provenance = json.loads(made.task.provenance_path.read_text())
    vetting = json.loads(made.task.vetting_path.read_text())
    jsonschema.validate(provenance, resources.schema("provenance"))
    jsonschema.validate(vetting, resources.schema("vetting"))
    assert provenance["repository"]["commit"] == made.info.repo_commit
    assert provenance["paper"]["text_sha256"] == files.sha256_file(made.task.paper_json(made.info))
    assert provenance["repository"]["removed"] == [{"path": "x.pyc", "reason": "cache", "by_recipe": False}]
    assert (
        provenance["environment"]["base_image"]["reason"]
        == "the repository asks for torch==2.0.1 (requirements.txt:1)"
    )
    assert provenance["environment"]["lock"]["pinned"] is False
    assert vetting["status"] == "open"
    assert {item["answer"] for item in vetting["questions"].values()} == {None}
    assert vetting["questions"]["license"]["evidence"] == ["MPL-2.0, recognised in LICENSE"]
    assert made.info.license == "MPL-2.0"


def test_what_is_compiled_gets_its_compiler(
    tmp_path: Path, pdf: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ["certifi", "idna", "six", *(f"part{number}" for number in range(15))]  # as `pip freeze` has it
    index = {name: [Release("1.0", "2020-01-01")] for name in whole}
    index["fast"] = [Release("1.0", "2020-01-01", wheel=False)]
    commit(source, {"requirements.txt": "".join(f"{name}==1.0\n" for name in [*whole, "fast"])})
    monkeypatch.delenv("UV_OFFLINE")
    with package_index(index) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", address)
        made = make(tmp_path, pdf, source, base_image="me/base:1")
        written = made.task.dockerfile.read_text()
        assert not any(file.changed for file in lock(made.task, LockOptions()).files)
    assert "there is no wheel: fast" in made.task.lock.read_text()
    assert "        build-essential \\\n" in written and "        python3-dev \\\n" in written


def test_what_was_decided_for_the_annotator_is_said(tmp_path: Path, pdf: Path, source: Path) -> None:
    commit(source, {"unit_test/old.py": "", "a.TXT": "", "A.txt": "", "c.pyc": b""})
    add_link(source, "lib", "1" * 40)
    notes = "\n".join(make(tmp_path, pdf, source, skip_submodules=True).notes)
    for part in (
        "no licence file",
        "submodule lib left out",
        "removed c.pyc: cache",
        "already has a folder unit_test",
        "NOT pinned",
        "3.10",
    ):
        assert part in notes


def test_a_lock_that_nothing_fits_names_what_would_help(
    tmp_path: Path, pdf: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(source, {"requirements.txt": "loss==2.0\nmaths==1.0\n"})
    releases = {
        "loss": [Release("2.0", "2020-01-01", ("maths>=2",))],
        "maths": [Release("1.0", "2020-01-01"), Release("2.0", "2020-01-01")],
    }
    monkeypatch.delenv("UV_OFFLINE")
    with package_index(releases) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", address)
        made = make(tmp_path, pdf, source, base_image="me/base:1")
    (note,) = [note for note in made.notes if note.startswith("requirements.lock is")]
    assert "no versions fit together" in note
    assert "(`lmr-author env lock --with loss" in note and note.endswith(
        "` drops the versions that conflict)"
    )


def test_given_values_win(tmp_path: Path, pdf: Path, source: Path) -> None:
    first = git(source, "rev-parse", "HEAD")
    commit(source, {"late.py": ""})
    made = make(
        tmp_path, pdf, source, commit=first, id=7, name="Mine", title="T", year=2020, paper_url="https://x.example/p",
        base_image="me/base:1", python_version="3.12", repo_folder="code",
    )  # fmt: skip
    info = made.info
    assert (info.folder_name, info.paper_name, info.year, info.repo_folder_name) == (
        "7-Mine",
        "T",
        2020,
        "code",
    )
    assert (info.paper_url, info.repo_commit) == ("https://x.example/p", first)
    assert not (made.task.root / "code" / "late.py").exists()
    assert "ARG BASE_IMAGE=me/base:1\n" in made.task.dockerfile.read_text()
    assert "Python 3.12" in made.task.lock.read_text()


def test_numbers_go_on_and_are_not_given_twice(tmp_path: Path, pdf: Path, source: Path) -> None:
    assert make(tmp_path, pdf, source, name="a").task.name == "1-a"
    (tmp_path / "tasks" / "12-foreign").mkdir()
    odd = tmp_path / "tasks" / "odd"
    odd.mkdir()
    (odd / "info.json").write_text('{"instance_id": "14"}')
    assert make(tmp_path, pdf, source, name="a").task.name == "15-a"
    assert "taken by 12-foreign/" in refused(tmp_path, pdf, source, id=12).message
    assert "taken by odd/" in refused(tmp_path, pdf, source, id=14).message


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("SimPO: Simple Preference Optimization", "SimPO"),
        ("Direct Preference Optimization: Your Language Model is …", "DPO"),
        ("Chain-of-Thought Prompting for All: A Study", "CTPA"),
        ("Learning Transferable Models (CLIP) from Text", "CLIP"),
        ("Nano GPT: Small", "Nano-GPT"),
        ("Attention is all you need", ""),
        ("a long lower case title before it: the colon", ""),
        ("../../etc: x", "etc"),
        ("", ""),
    ],
)
def test_default_names(title: str, name: str) -> None:
    assert default_name(title) == name


def test_another_python_than_the_repositorys_is_told(tmp_path: Path, pdf: Path, source: Path) -> None:
    commit(source, {"setup.cfg": "[options]\npython_requires = >=3.12\n"})
    said = [note for note in make(tmp_path, pdf, source).notes if "asks for Python" in note]
    assert len(said) == 1 and said[0].startswith("the repository asks for Python >=3.12 (setup.cfg:2)")

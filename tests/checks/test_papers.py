"""A finished task with the text of another paper, or the paper of another title."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lmr_author.core import files
from lmr_author.core.task import Task
from lmr_author.proof.validation.run import validate
from tests.support import STARTERS, starter


def codes(task: Task) -> set[str]:
    return {finding.code for finding in validate([task]).findings}


@pytest.fixture
def finished(tmp_path: Path) -> Task:
    return starter("4-demo-packing", tmp_path)


@pytest.mark.parametrize("name", ["paper.json", "paper.pdf"])
def test_a_paper_that_was_exchanged_after_new_task(finished: Task, name: str) -> None:
    other = next((STARTERS / "9-two-way").glob("*/paper.json")).with_name(name)
    shutil.copyfile(other, finished.root / "packing" / name)
    assert "LMR105" in codes(finished)
    assert ("LMR106" in codes(finished)) == (name == "paper.json")


def test_one_page_of_another_paper(finished: Task) -> None:
    path = finished.root / "packing/paper.json"
    pages = json.loads(path.read_text("utf-8"))
    pages["2"] = json.loads(next((STARTERS / "9-two-way").glob("*/paper.json")).read_text("utf-8"))["2"]
    files.write_json(path, pages)
    (finding,) = [one for one in validate([finished]).findings if one.code == "LMR105"]
    assert f"1 of {len(pages)} pages differ (2)" in finding.message


def test_without_a_record_of_new_task_the_pdf_is_read(finished: Task) -> None:
    finished.provenance_path.unlink()
    assert not codes(finished) & {"LMR105", "LMR106"}


@pytest.mark.parametrize(("year", "found"), [(2017, True), (2018, False), (2020, False), (2022, True)])
def test_the_year_beside_that_of_the_first_page(finished: Task, year: int, found: bool) -> None:
    path = finished.root / "packing/paper.json"
    pages = json.loads(path.read_text("utf-8"))
    files.write_json(path, pages | {"1": pages["1"] + "\narXiv:1905.05702v2 [cs.CL] 1 Jun 2019\n"})
    info = finished.load_raw()
    files.write_json(finished.info_path, info | {"year": year})
    assert ("LMR107" in codes(finished)) == found


def test_papers_and_records_of_strangers_end_no_check(finished: Task) -> None:
    files.write_json(finished.provenance_path, {"paper": {"authors": ["", " ", ", Ada", "Somebody Else"]}})
    (finished.root / "packing/paper.json").write_text('{"1": ' + "[" * 900 + '"x"' + "]" * 900 + "}")
    found = codes(finished)
    assert "LMR000" not in found and {"LMR105", "LMR106", "LMR107"} <= found

"""Options, repositories and papers that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core.errors import UsageError
from tests.gitrepos import commit
from tests.new_task.making import make, refused
from tests.papers import make_paper


def test_an_existing_folder_is_not_touched(tmp_path: Path, pdf: Path, source: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "1-a").write_text("mine")
    refused(tmp_path, pdf, source, id=1, name="a")
    assert (tmp_path / "tasks" / "1-a").read_text() == "mine"


@pytest.mark.parametrize(
    "options",
    [
        {"name": "../x"}, {"name": "a/b"}, {"name": ""}, {"name": "-a"}, {"id": 0}, {"id": -1}, {"year": 23},
        {"repo_folder": "golden_files"}, {"repo_folder": ".."}, {"repo_folder": "Authoring"},
        {"base_image": "a b"},
        {"python_version": "3"}, {"commit": "-x"}, {"commit": "nowhere"},
    ],
)  # fmt: skip
def test_wrong_options_are_refused(
    tmp_path: Path, pdf: Path, source: Path, options: dict[str, object]
) -> None:
    refused(tmp_path, pdf, source, **options)


@pytest.mark.parametrize(
    "repo", ["ext::sh -c touch% /tmp/x", "-x", "https://127.0.0.1:9/a/b", "no-such-folder", ""]
)
def test_wrong_repositories_are_refused(tmp_path: Path, pdf: Path, repo: str) -> None:
    refused(tmp_path, pdf, repo)


def test_a_paper_that_is_none_is_refused(tmp_path: Path, source: Path) -> None:
    (tmp_path / "in.pdf").write_bytes(b"%PDF-1.7 no")
    refused(tmp_path, tmp_path / "in.pdf", source)
    refused(tmp_path, tmp_path / "missing.pdf", source)


@pytest.mark.parametrize("name", ["paper.pdf", "paper.json", "unit_test"])
def test_files_that_stand_in_the_way_are_refused(tmp_path: Path, pdf: Path, source: Path, name: str) -> None:
    commit(source, {name: "theirs"})
    assert name in refused(tmp_path, pdf, source).message
    (source / name).unlink()
    for target in ("train.py", "not-there"):
        (source / name).symlink_to(target)
        commit(source, {})
        assert name in refused(tmp_path, pdf, source).message
        (source / name).unlink()


def test_the_same_paper_in_the_repository_is_fine(tmp_path: Path, pdf: Path, source: Path) -> None:
    commit(source, {"paper.pdf": pdf.read_bytes()})
    made = make(tmp_path, pdf, source)
    assert made.task.paper_pdf(made.info).read_bytes() == pdf.read_bytes()


def test_what_cannot_be_derived_has_to_be_given(tmp_path: Path, source: Path) -> None:
    pdf = make_paper(tmp_path / "in.pdf", title="", body="words " * 300, metadata={"creationDate": ""})
    with pytest.raises(UsageError, match="title of the paper") as caught:
        make(tmp_path, pdf, source)
    assert "--title" in caught.value.hint

"""Fetching a paper: files, addresses, arXiv; and everything that is no paper."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.paper.fetch import arxiv_id, fetch
from tests.papers import make_paper
from tests.servers import Answer, serve

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom">
  <entry>
    <id>http://arxiv.org/abs/2305.18290v2</id>
    <updated>2023-12-13T00:00:00Z</updated><published>2023-05-29T00:00:00Z</published>
    <title>Direct Preference
      Optimization</title>
    <link title="pdf" href="ADDRESS/pdf" rel="related" type="application/pdf"/>
    <arxiv:primary_category term="cs.LG"/>
  </entry>
</feed>"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2305.18290", "2305.18290"),
        ("arXiv:2305.18290v3", "2305.18290v3"),
        ("https://arxiv.org/abs/2305.18290", "2305.18290"),
        ("http://www.arxiv.org/pdf/2305.18290v2.pdf", "2305.18290v2"),
        ("https://arxiv.org/pdf/cs/0112017", "cs/0112017"),
        ("math.GT/0309136", "math.GT/0309136"),
        ("https://example.org/abs/2305.18290", ""),
        ("paper.pdf", ""),
    ],
)
def test_arxiv_ids_are_recognised(text: str, expected: str) -> None:
    assert arxiv_id(text) == expected


def test_a_file_is_copied_and_hashed(tmp_path: Path) -> None:
    pdf = make_paper(tmp_path / "in.pdf")
    got = fetch(str(pdf), tmp_path / "out" / "paper.pdf")
    assert got.path.read_bytes() == pdf.read_bytes()
    assert (got.source, got.url, len(got.sha256)) == ("file", "", 64)
    assert fetch(pdf.as_uri(), tmp_path / "again.pdf").sha256 == got.sha256


def test_a_file_named_like_an_arxiv_id_is_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_paper(tmp_path / "2305.18290")
    monkeypatch.chdir(tmp_path)
    assert fetch("2305.18290", tmp_path / "out.pdf").source == "file"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello", "is not a PDF"),
        (b"\n <!DOCTYPE html><html></html>", "is a web page"),
        (b"x" * 2000 + b"%PDF-1.4", "is not a PDF"),
    ],
)
def test_a_file_that_is_no_pdf_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "in.pdf").write_bytes(content)
    with pytest.raises(LmrError, match=message):
        fetch(str(tmp_path / "in.pdf"), tmp_path / "out.pdf")
    assert not (tmp_path / "out.pdf").exists()


@pytest.mark.parametrize(
    "paper", ["missing.pdf", "file:///nowhere/paper.pdf", "ftp://example.org/a.pdf", "\0", "", "."]
)
def test_what_is_neither_file_nor_address_is_refused(tmp_path: Path, paper: str) -> None:
    with pytest.raises(LmrError) as caught:
        fetch(paper, tmp_path / "out.pdf")
    assert caught.value.hint


def test_a_pdf_is_downloaded_through_a_redirect(tmp_path: Path) -> None:
    pdf = make_paper(tmp_path / "in.pdf").read_bytes()
    answers = {"/a": Answer(status=302, headers={"Location": "/b"}), "/b": Answer(pdf)}
    with serve(answers) as address:
        got = fetch(f"{address.replace('//', '//me:secret@')}/a", tmp_path / "out.pdf")
        assert got.url == f"{address}/a"
    assert (got.source, got.path.read_bytes()) == ("url", pdf)


def test_bad_answers_are_errors_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("lmr_author.core.paper.fetch"), "MAX_BYTES", 1000)
    answers = {
        "/page": Answer(b"<html>log in</html>"),
        "/large": Answer(b"%PDF-1.4" + b"x" * 2000),
        "/loop": Answer(status=302, headers={"Location": "/loop"}),
        "/empty": Answer(),
    }
    with serve(answers) as address:
        for path, message in (
            ("/page", "web page"),
            ("/large", "larger than"),
            ("/loop", "cannot download"),
            ("/empty", "empty"),
            ("/none", "404"),
        ):
            with pytest.raises(LmrError, match=message) as caught:
                fetch(address.replace("//", "//me:secret@") + path, tmp_path / "out.pdf")
            assert caught.value.hint
            assert "secret" not in caught.value.message
    with pytest.raises(LmrError) as caught:
        fetch(f"{address}/gone", tmp_path / "out.pdf")
    assert "download the PDF" in caught.value.hint
    assert not (tmp_path / "out.pdf").exists()


def test_arxiv_gives_title_and_year(tmp_path: Path) -> None:
    pdf = make_paper(tmp_path / "in.pdf").read_bytes()
    answers = {"/pdf": Answer(pdf)}
    with serve(answers) as address:
        answers["/api/query"] = Answer(FEED.replace("ADDRESS", address).encode())
        got = fetch("arXiv:2305.18290v2", tmp_path / "out.pdf", arxiv_api=address)
    assert (got.title, got.year, got.source) == ("Direct Preference Optimization", 2023, "arxiv")
    assert (got.url, got.arxiv_id) == ("https://arxiv.org/abs/2305.18290v2", "2305.18290v2")
    assert got.path.read_bytes() == pdf


def test_arxiv_is_asked_again_when_it_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("lmr_author.core.paper.fetch"), "ARXIV_PAUSE", 0.0)
    answers = {"/pdf": Answer(make_paper(tmp_path / "in.pdf").read_bytes())}
    with serve(answers) as address:
        feed = Answer(FEED.replace("ADDRESS", address).encode())
        answers["/api/query"] = Answer(status=503, on_asked=lambda: answers.update({"/api/query": feed}))
        assert fetch("2305.18290", tmp_path / "out.pdf", arxiv_api=address).year == 2023


def test_arxiv_without_network_names_the_offline_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("lmr_author.core.paper.fetch"), "ARXIV_PAUSE", 0.0)
    with serve({}) as address:
        pass
    with pytest.raises(LmrError, match="arXiv lookup of") as caught:
        fetch("2305.18290", tmp_path / "out.pdf", arxiv_api=address)
    assert "pass the file" in caught.value.hint


def test_an_unknown_arxiv_id_is_an_error(tmp_path: Path) -> None:
    empty = FEED[: FEED.index("<entry>")] + "</feed>"
    with (
        serve({"/api/query": Answer(empty.encode())}) as address,
        pytest.raises(LmrError, match="has no paper"),
    ):
        fetch("2305.18290", tmp_path / "out.pdf", arxiv_api=address)

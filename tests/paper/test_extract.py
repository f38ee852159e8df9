"""Reading a paper, and surviving what is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmr_author.core.errors import LmrError
from lmr_author.core.paper import Paper, extract
from tests.papers import ABSTRACT, make_paper, make_scan


def test_text_title_and_links(tmp_path: Path) -> None:
    body = ABSTRACT + "Code: https://github.com/Some-One/pair.wins.git and github.com/some/other."
    paper = extract(make_paper(tmp_path / "p.pdf", body=body, pages=3))
    assert paper.title == "Pairwise Wins: Learning from Pairs of Answers"
    assert list(paper.to_json()) == ["1", "2", "3"]
    assert paper.to_json()["2"].startswith("Page 2: the loss")
    assert paper.repositories == ("https://github.com/Some-One/pair.wins", "https://github.com/some/other")
    assert (paper.year, paper.year_origin) == (2021, "the PDF's creation date")
    assert (paper.arxiv_id, paper.notes) == ("", ())


def test_the_stamp_gives_the_arxiv_id_and_is_no_title(tmp_path: Path) -> None:
    paper = extract(make_paper(tmp_path / "p.pdf", stamp="arXiv:2305.18290v2  [cs.LG]  13 Dec 2023"))
    assert (paper.arxiv_id, paper.year, paper.year_origin) == ("2305.18290v2", 2023, "the arXiv id")
    assert paper.title.startswith("Pairwise Wins")


def test_a_venue_on_page_one_gives_the_year(tmp_path: Path) -> None:
    line = "Proceedings of the 62nd Annual Meeting of the ACL, pages 1-9, August 11, 2024\n"
    stamp = "arXiv:2305.18290v2 [cs.LG] 13 Dec 2023"
    paper = extract(make_paper(tmp_path / "p.pdf", body=line + ABSTRACT, stamp=stamp))
    assert (paper.year, paper.year_origin) == (2024, "the venue named on page 1")
    assert paper.venue == line.strip()


@pytest.mark.parametrize(
    ("lines", "venue", "year"),
    [
        (
            "Proceedings of the 57th Annual Meeting on Compu-\ntation, pages 1-9\nRome, July 28, 2019. \u00a92019 ACL",
            "Proceedings of the 57th Annual Meeting on Computation, pages 1-9 Rome, July 28, 2019.",
            2019,
        ),
        ("Thirty-Third AAAI Conference (AAAI-19)", "Thirty-Third AAAI Conference (AAAI-19)", 2019),
        ("Conference of X (ICLR) 2022, arXiv:2106.09685", "Conference of X (ICLR) 2022", 2022),
        ("Nature 630 (2024)", "Nature 630 (2024)", 2024),
        ("Nature | Vol 630 | 20 June 2024 | 625", "Nature | Vol 630 | 20 June 2024 | 625", 2024),
        ("arXiv:1906.01234v2  12 Jul", "", 2019),
        ("We follow arXiv:1906.01234, which was first", "", 2021),
        ("We take the CoNLL-2003 development set as an example", "", 2021),
        ("It was shown at ACL before (Someone, 2012)", "", 2021),
        ("Copyright \u00a9 2018, Association for the Advancement of Things", "", 2018),
    ],
)
def test_what_publishers_print_on_page_one(tmp_path: Path, lines: str, venue: str, year: int) -> None:
    paper = extract(make_paper(tmp_path / "p.pdf", body=f"{lines}\n{ABSTRACT}"))
    assert (paper.venue, paper.year) == (venue, year)


def test_a_link_that_a_line_break_cuts(tmp_path: Path) -> None:
    body = f"{ABSTRACT}Code: https://github.com/some/pair-\nwins and\nhttps://github.com/\nother/one here"
    found = extract(make_paper(tmp_path / "p.pdf", body=body)).repositories
    assert found == ("https://github.com/some/pair-wins", "https://github.com/other/one")


def test_without_large_text_the_title_is_the_pdfs_own(tmp_path: Path) -> None:
    own = {"title": "A Title from the Metadata"}
    paper = extract(make_paper(tmp_path / "p.pdf", title="", body="some words " * 300, metadata=own))
    assert paper.title == "A Title from the Metadata"
    junk = {"title": "Microsoft Word - final2.docx"}
    assert extract(make_paper(tmp_path / "q.pdf", title="", body="words " * 300, metadata=junk)).title == ""


def test_a_page_without_text_is_noted(tmp_path: Path) -> None:
    import pymupdf

    document = pymupdf.open(make_paper(tmp_path / "p.pdf"))
    document.new_page()
    document.save(tmp_path / "q.pdf")
    assert "page(s) 3" in " ".join(extract(tmp_path / "q.pdf").notes)


def test_a_scan_is_refused_with_a_word_on_ocr(tmp_path: Path) -> None:
    with pytest.raises(LmrError, match="scan") as caught:
        extract(make_scan(tmp_path / "p.pdf"))
    assert "OCR" in caught.value.hint


def test_an_encrypted_paper_is_refused(tmp_path: Path) -> None:
    import pymupdf

    kind = pymupdf.PDF_ENCRYPT_AES_256
    pdf = make_paper(tmp_path / "p.pdf", encryption=kind, owner_pw="o", user_pw="u")
    with pytest.raises(LmrError, match="encrypted"):
        extract(pdf)


def test_a_paper_cut_off_is_refused(tmp_path: Path) -> None:
    data = make_paper(tmp_path / "p.pdf", pages=9).read_bytes()
    for part in (0.5, 0.9):
        (tmp_path / "cut.pdf").write_bytes(data[: int(len(data) * part)])
        with pytest.raises(LmrError, match=r"cut off|not a readable PDF|no pages"):
            extract(tmp_path / "cut.pdf")


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\n%%EOF\n", b"no pdf at all", b"%PDF-1.4" + b"\0" * 999])
def test_what_is_no_pdf_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p.pdf").write_bytes(content)
    with pytest.raises(LmrError) as caught:
        extract(tmp_path / "p.pdf")
    assert caught.value.hint


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(20, 1500), noise=st.binary(min_size=1, max_size=40))
def test_a_damaged_paper_is_read_or_refused_never_a_crash(tmp_path: Path, place: int, noise: bytes) -> None:
    pdf = tmp_path / "whole.pdf"
    if not pdf.exists():
        make_paper(pdf)
    data = bytearray(pdf.read_bytes())
    data[place : place + len(noise)] = noise
    (tmp_path / "p.pdf").write_bytes(data)
    try:
        result = extract(tmp_path / "p.pdf")
    except LmrError as error:
        assert error.hint
    else:
        assert isinstance(result, Paper)


def test_limits_end_the_reader_and_not_us(tmp_path: Path) -> None:
    pdf = make_paper(tmp_path / "p.pdf", pages=300)
    with pytest.raises(LmrError, match="within"):
        extract(pdf, seconds=0.01)
    with pytest.raises(LmrError, match=r"memory|failed"):
        extract(pdf, memory=20 * 1024 * 1024)

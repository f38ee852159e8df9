"""PDF files for tests, made with PyMuPDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ABSTRACT = "Abstract\n" + "We present a method that learns from pairs of answers. " * 8 + "\n1 Introduction\n"


def make_paper(
    path: Path,
    title: str = "Pairwise Wins: Learning\nfrom Pairs of Answers",
    *,
    body: str = ABSTRACT,
    stamp: str = "",
    pages: int = 2,
    metadata: dict[str, str] | None = None,
    **save: Any,
) -> Path:
    """A paper: title in large letters, a body, arXiv's stamp up the margin, further pages."""
    import pymupdf

    document = pymupdf.open()
    page = document.new_page()
    if title:
        page.insert_text((60, 80), title, fontsize=18)
    page.insert_text((60, 125), "Jane Doe and Kim Li, University of Somewhere", fontsize=11)
    page.insert_textbox((60, 150, 540, 700), body, fontsize=10)
    if stamp:
        page.insert_text((30, 500), stamp, fontsize=20, rotate=90)
    for number in range(2, pages + 1):
        text = f"Page {number}: the loss is the mean over all pairs of answers   ({number - 1})"
        document.new_page().insert_text((60, 80), text, fontsize=10)
    document.set_metadata({"creationDate": "D:20210503120000Z", **(metadata or {})})
    document.save(path, **save)
    document.close()
    return path


def make_scan(path: Path) -> Path:
    """A PDF whose page is a picture, as a scanner makes it."""
    import pymupdf

    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 200, 200), False)
    picture.clear_with(200)
    document = pymupdf.open()
    document.new_page().insert_image((0, 0, 200, 200), pixmap=picture)
    document.save(path)
    return path

"""Lay out the paper of a bundled example: ``paper.html`` plus the driver's results become ``paper.pdf``.

    python templates/make_paper.py templates/demo
    python templates/make_paper.py templates/starter/1-rating-margin

The numbers of the table are never typed: the driver named under ``results`` in ``demo.json`` or ``recipe.yaml``
is run, and the rows that it prints as JSON replace ``{{rows}}``. The same results give the same bytes
(no dates, no random ids). Needs PyMuPDF, which lmr-author installs.
"""

from __future__ import annotations

import argparse
import html
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymupdf
import yaml

PAGE = pymupdf.paper_rect("a4")
MARGIN = 64  # points
MOST_PAGES = 12
WIDEST = 74
"""Characters of an equation's line that fit on the page."""
STYLE = """
body { font-family: serif; font-size: 10.5pt; line-height: 1.35; text-align: justify; }
h1 { font-size: 17pt; text-align: center; margin-bottom: 4pt; }
h2 { font-size: 12.5pt; margin-top: 13pt; margin-bottom: 3pt; }
p { margin-top: 0; margin-bottom: 6pt; }
.authors { text-align: center; }
.note { text-align: center; font-size: 9pt; color: #555555; margin-bottom: 12pt; }
.abstract { margin-left: 30pt; margin-right: 30pt; font-size: 9.8pt; }
.equation { font-family: monospace; font-size: 9.4pt; margin-left: 22pt; margin-top: 3pt; margin-bottom: 8pt;
            text-align: left; white-space: pre; }
.algorithm { font-size: 9.8pt; margin-left: 22pt; text-align: left; margin-top: 5pt; margin-bottom: 9pt; }
.caption { font-size: 9.5pt; margin-top: 9pt; margin-bottom: 3pt; }
table { margin-bottom: 10pt; font-size: 9.8pt; }
th { text-align: left; border-bottom: 1px solid black; padding: 2pt 16pt 2pt 2pt; }
td { text-align: left; border-bottom: 1px solid #cccccc; padding: 2pt 16pt 2pt 2pt; }
.references { font-size: 9.3pt; text-align: left; }
"""


def facts_of(folder: Path) -> dict[str, Any]:
    """Title, authors, address, and the command under ``results``: from ``demo.json`` or ``recipe.yaml``."""
    if (folder / "demo.json").is_file():
        data: dict[str, Any] = json.loads((folder / "demo.json").read_text("utf-8"))
        return data
    found = yaml.safe_load((folder / "recipe.yaml").read_text("utf-8"))
    return {**found["paper"], "results": shlex.split(found["results"])}


def result_rows(folder: Path, command: list[str]) -> str:
    """Run the driver in the example's repository and return its rows as HTML."""
    argv = [sys.executable, "-B", *command[1:]]
    run = subprocess.run(argv, cwd=folder / "repository", capture_output=True, text=True, check=True)
    rows = json.loads(run.stdout)
    cells = [[html.escape(cell).replace(" ", "&#160;") for cell in row] for row in rows]
    return "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)


def lay_out(source: str) -> pymupdf.Document:
    """Flow HTML over as many A4 pages as it needs, and number them."""
    equations = re.findall(r'(?s)<p class="equation">(.*?)</p>', source)
    lines = [line for equation in equations for line in html.unescape(equation).splitlines()]
    if wide := [line for line in lines if len(line) > WIDEST]:
        raise SystemExit(f"wider than the page, at most {WIDEST} characters fit: {wide[0]}")
    story, buffer = pymupdf.Story(html=source, user_css=STYLE), io.BytesIO()
    writer = pymupdf.DocumentWriter(buffer)
    frame = PAGE + (MARGIN, MARGIN, -MARGIN, -MARGIN)  # noqa: RUF005  (a Rect adds edge by edge)
    for _ in range(MOST_PAGES):
        device = writer.begin_page(PAGE)
        more, _ = story.place(frame)
        story.draw(device)
        writer.end_page()
        if not more:
            break
    else:
        raise SystemExit(f"more than {MOST_PAGES} pages: the layout does not end, or the paper is too long")
    writer.close()
    document = pymupdf.open("pdf", buffer.getvalue())
    for page in document:
        page.insert_text((PAGE.width / 2 - 3, PAGE.height - 36), str(page.number + 1), fontsize=9)
    return document


def main() -> None:
    """Make one example's ``paper.pdf``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with paper.html, recipe.yaml and repository/")
    folder: Path = parser.parse_args().folder
    facts = facts_of(folder)
    results = facts["results"]
    assert isinstance(results, list)
    source = (folder / "paper.html").read_text("utf-8").replace("{{rows}}", result_rows(folder, results))
    document = lay_out(source)
    document.set_metadata({"title": str(facts["title"]), "author": str(facts["authors"])})
    document.subset_fonts()
    data = document.tobytes(garbage=4, deflate=True, no_new_id=True)
    (folder / "paper.pdf").write_bytes(data)
    print(f"{folder / 'paper.pdf'}: {len(document)} pages, {len(data)} bytes")


if __name__ == "__main__":
    main()

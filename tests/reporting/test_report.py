"""The HTML page: what it shows, and that nothing in a task can change what the page does."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lmr_author.cli.app import main
from lmr_author.core import files
from lmr_author.core.paper import extract
from lmr_author.core.task import Task
from lmr_author.release.reporting.page import percent
from lmr_author.release.reporting.report import report
from lmr_author.release.review.checklist import HUMAN
from lmr_author.release.review.review import save_review
from tests import example
from tests.papers import make_paper
from tests.review.reviewing import PASS

EVIL = "</script></style><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}\"'`"


class Page(HTMLParser):
    """A page as a browser reads it: its tags with attributes, its text, its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        """Note text, by the element it stands in."""
        self.raw.get(self.cdata_elem or "", self.words).append(data)

    @property
    def text(self) -> str:
        """All text that is shown."""
        return " ".join(self.words)

    def attributes(self, name: str) -> list[str]:
        """The values of an attribute, in order."""
        return [found[name] for _, found in self.tags if name in found]


def page_of(place: Path, tmp_path: Path) -> Page:
    """The report of a task or a folder."""
    written = report(place, tmp_path / "out" / "page.html", lambda message: None)
    return Page(written.path.read_text("utf-8"))


def with_paper(root: Path) -> None:
    """Give an example task a real paper that describes its function."""
    body = (
        "Abstract\nWe rank documents.\n\n1 Introduction\nRanking is useful in many applications of search.\n\n"
        "3 Pairwise loss\nThe pairwise loss compares the scores of two documents with different labels and "
        "asks for a margin between them.\n"
    )
    pdf = make_paper(
        root / example.REPOSITORY / "paper.pdf", "Learning to Rank with Smooth Margins", body=body
    )
    files.write_json(pdf.with_name("paper.json"), extract(pdf).to_json())


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """The example task with a paper."""
    made = example.write(tmp_path / "tasks")
    with_paper(made.root)
    return made


def test_a_task_is_shown_with_paper_code_and_instruction(task: Task, tmp_path: Path) -> None:
    before = task.content_digest(), sorted(task.root.rglob("*"))
    page = page_of(task.root, tmp_path)
    assert (task.content_digest(), sorted(task.root.rglob("*"))) == before
    assert "Pairwise loss" in page.text
    assert "NotImplementedError" in page.text
    assert " ".join(example.INSTRUCTION.split("`")) in " ".join(page.text.split("\n"))
    assert len([tag for tag, _ in page.tags if tag == "image"]) == 2, "the named section runs over two pages"
    assert "Golden and masked, side by side" in page.text


def test_reviews_are_one_table_with_disputed_items_first(task: Task, tmp_path: Path) -> None:
    page = page_of(task.root, tmp_path)
    assert "Nobody has reviewed this task" in page.text
    for name, core in (("ada", "pass"), ("bo", "pass"), ("cy", "fail")):
        save_review(task, name, {**PASS, "core": {"answer": core, "comment": f"by {name}"}})
    page = page_of(task.root, tmp_path)
    assert "disputed: core" in page.text
    text = page.text.rpartition("disputed: core")[2]
    assert "by cy" in text
    asked = [question.question for question in HUMAN]
    assert min(asked, key=text.index) == next(one.question for one in HUMAN if one.id == "core")


def test_a_share_is_rounded_down_as_in_evaluate() -> None:
    assert [percent(share) for share in (26 / 28, 0.9, 1, None)] == ["92%", "90%", "100%", "–"]


def hostile(task: Task) -> None:
    """Markup in everything that a task can say."""
    raw = task.load_raw()
    raw |= {"paper_name": EVIL, "paper_url": "javascript:alert(3)", "repo_url": f'https://x.org/"{EVIL}'}
    raw["license"] = raw["repo_commit"] = EVIL
    raw["implementations"][0] |= {"instruction": EVIL, "category": EVIL, "retrieval_context": [EVIL]}
    files.write_json(task.info_path, raw)
    golden = task.root / raw["implementations"][0]["golden_file"]
    golden.write_text(golden.read_text().replace("def pairwise_loss", f"# {EVIL}\ndef pairwise_loss"))
    golden.write_text(golden.read_text().replace('"""', f'"""{EVIL.replace(chr(34), "")}\n', 3))
    task.dockerfile.write_text(f"FROM scratch\n# {EVIL}\n")
    gate = {"gate": EVIL, "status": EVIL, "implementation": 1, "message": EVIL, "hint": EVIL, "seconds": 1,
            "detail": {"killed": 1, "mutants": 2, "score": 0.5, "survivors": [
                {"id": EVIL, "line": 1, "operator": EVIL, "diff": f"+{EVIL}\n-{EVIL}", "why": EVIL}]}}  # fmt: skip
    gate["gate"] = "mutants-die"
    document = {"format": "lmr-evaluation/1", "sandbox": {"kind": EVIL}, "gates": [gate], "started": EVIL}
    files.write_json(task.evaluation_path, document)
    item = {"id": EVIL, "question": EVIL, "kind": "human", "answer": EVIL, "comment": EVIL, "evidence": ""}
    review = {"format": "lmr-review/1", "reviewer": EVIL, "created": EVIL, "items": [item]}
    files.write_json(task.reviews_folder / "ada.json", review)
    told = dict.fromkeys(("quote", "where", "note", "instruction", "check", "waived"), EVIL)
    entries = [
        {"relation": "deviates", "lines": lines, "index": 1, "page": 1, **told} for lines in ("14", "999-998")
    ]
    files.write_json(task.ledger_path, {"format": "lmr-ledger/1", "entries": entries})


@pytest.mark.parametrize("whole_folder", [False, True])
def test_hostile_content_is_text_and_nothing_else(task: Task, tmp_path: Path, whole_folder: bool) -> None:
    hostile(task)
    page = page_of(task.root.parent if whole_folder else task.root, tmp_path)
    assert "<script>alert(1)</script>" in page.text
    assert "49" not in [word.strip() for word in page.words]
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert "alert" not in "".join(page.raw["script"])
    assert {tag for tag, _ in page.tags}.isdisjoint({"img", "iframe", "object", "embed", "link", "base"})
    assert not [name for _, found in page.tags for name in found if name.startswith("on") or name == "style"]
    links = [*page.attributes("href"), *page.attributes("src"), *page.attributes("xlink:href")]
    assert [link for link in links if not link.startswith(("#", "https://", "data:image/png;base64,"))] == []
    assert not [link for link in links if '"' in link or "<" in link]


def test_every_part_may_be_missing_or_damaged(task: Task, tmp_path: Path) -> None:
    raw = task.load_raw()
    (task.root / raw["implementations"][0]["golden_file"]).unlink()
    (task.root / example.REPOSITORY / "paper.pdf").write_bytes(b"no PDF")
    recording = task.recording(task.load(), 1)
    files.write_text(recording / "recording.json", "{}")
    files.write_text(task.evaluation_path, "not JSON")
    files.write_text(task.provenance_path, "[]")
    files.write_text(task.equivalent_mutants_path, '{"accepted": [{}]}')
    page = page_of(task.root, tmp_path)
    assert "is not a readable PDF" in page.text
    assert "is not a recording's manifest" in page.text
    assert "authoring/equivalent-mutants.json: not as its schema says" in page.text
    assert "Never evaluated" in page.text


def test_a_folder_has_a_row_for_each_task_also_for_a_broken_one(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    example.write(tasks)
    example.write(tasks, 2)
    (tasks / "3-Broken").mkdir()
    page = page_of(tasks, tmp_path)
    rows = [found["data-value"] for tag, found in page.tags if tag == "th" and "data-value" in found]
    assert len(rows) == 3 and rows[-1] == "3-Broken"
    assert "broken" in page.text and "Training Objectives & Optimization" in page.text


def test_a_folder_of_pages_is_linked(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    made = example.write(tasks)
    (tasks / "3-Broken").mkdir()
    written = report(tasks, tmp_path / "site", lambda message: None)

    assert written.path == tmp_path / "site" / "index.html"
    links = [
        link for link in Page(written.path.read_text("utf-8")).attributes("href") if link.endswith(".html")
    ]
    assert sorted(links) == [f"{made.name}.html", "3-Broken.html"]
    assert all((written.path.parent / link).is_file() for link in links)
    first = Page((written.path.parent / f"{made.name}.html").read_text("utf-8"))
    assert {"index.html", "3-Broken.html"} <= set(first.attributes("href")), (
        "to all tasks, and to the next one"
    )
    assert str(tmp_path) not in (written.path.parent / links[0]).read_text("utf-8"), "no local path"


def test_the_page_stays_out_of_the_task(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    inside = task.root / example.REPOSITORY / "report.html"
    assert main(["report", str(task.root), "--html", str(inside)]) == 2
    assert not inside.exists()
    assert "shows its solution" in capsys.readouterr().err
    assert main(["report", str(task.root)]) == 2
    assert main(["report", str(task.root), "--html", str(task.authoring / "report.html")]) == 0


def test_values_of_a_recording_are_readable(tmp_path: Path) -> None:
    import numpy

    from lmr_author.release.reporting import values
    from lmr_author.runtime.probe.encoding import encode
    from lmr_author.runtime.probe.storing import dump

    given = {
        "x": numpy.array([[1.5, -2.0], [numpy.nan, 8.0]], dtype=numpy.float32),
        "words": ["a", "b" * 500],
        "flag": True,
        "z": numpy.array([1 + 2j]),
        "empty": [],
    }
    dump(encode(given), str(tmp_path), "inputs")
    rows = {row.path: row for row in values.read(tmp_path, "inputs").rows}

    assert (rows["x"].kind, rows["x"].shape) == ("array float32", "[2, 2]")
    assert rows["x"].range == "-2 … 8, 1 not finite"
    assert rows["x"].first == "1.5, -2, nan, 8"
    assert rows["words[1]"].first.endswith("…") and len(rows["words[1]"].first) <= values.LONGEST
    assert (rows["flag"].kind, rows["flag"].first) == ("bool", "True")
    assert rows["z"].first == "1+2j"
    assert rows["empty"].first == "0 items"


def test_a_damaged_recording_is_a_note(tmp_path: Path) -> None:
    from lmr_author.release.reporting import values

    (tmp_path / "inputs.json").write_text(
        json.dumps({"format": "lmr-recording/2", "omitted": [], "values": {"$": "no"}})
    )
    read = values.read(tmp_path, "inputs")
    assert read.rows == () and read.note.startswith("cannot be read")

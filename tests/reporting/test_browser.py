"""The pages in a real browser: what is seen, heard and reached by keyboard, and that nothing of a task runs."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lmr_author.authoring.new_task.fields import set_fields
from lmr_author.core.task import Task
from lmr_author.release.analysis.analyze import analyze
from lmr_author.release.reporting.report import report
from lmr_author.release.review.checklist import HUMAN
from tests import example
from tests.reporting.test_report import EVIL, hostile, task, with_paper

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
LEDGER = """\
- relation: implements
  where: equation (5)
  quote: The valley order puts the best right before the query, the second at the beginning of the prompt
  lines: 70
- relation: deviates
  quote: If there is none, nothing happens. Later places see the order as changed so far
  lines: 72-75
  note: The code looks at both neighbours at once, and changes the order in place, so that a later place sees it.
  waived: The outcome is the same in both orders of looking at them.
"""
STARTER = Path(__file__).parents[2] / "tasks/4-demo-packing"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

__all__ = ["task"]


@dataclass
class Seen:
    """A page in the browser, and what happened while it was looked at."""

    page: playwright.Page
    said: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def rules_broken(self, *rules: str) -> list[str]:
        """What axe-core finds, everything unfolded: of all rules, or of some."""
        from axe_playwright_python.sync_playwright import Axe

        self.page.evaluate("document.querySelectorAll('details').forEach(item => item.open = true)")
        options = {"resultTypes": ["violations"], **({"runOnly": [*rules]} if rules else {})}
        found = Axe().run(self.page, options=options).response["violations"]
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    """One browser for all tests."""
    with playwright.sync_playwright() as driver:
        # Chromium's own sandbox refuses to work for root.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages: a task, a finished one with lines that no case reaches, three with a broken one, two finished ones."""
    folder = tmp_path_factory.mktemp("pages")
    several = folder / "several"
    for name in ("1-Loss", "2-Search"):
        several.mkdir(exist_ok=True)
        example.write(folder / name).root.rename(several / name)
    with_paper(several / "1-Loss")
    (several / "3-Broken").mkdir()
    (several / "3-Broken" / "info.json").write_text("{")
    finished = folder / "4-demo-packing"
    shutil.copytree(STARTER, finished)
    recording = finished / "packing/unit_test/recordings/1/recording.json"
    data = json.loads(recording.read_text("utf-8"))
    data["coverage"] |= {"lines": [40, 48, 50], "missed": [69], "never_false": [56]}
    recording.write_text(json.dumps(data), "utf-8")
    set_fields(Task(finished), {"ledger": LEDGER})
    evaluated = folder / "evaluated"
    for name in ("4-demo-packing", "8-tile-score"):
        shutil.copytree(STARTER.with_name(name), evaluated / name)
    places = {"task": several / "1-Loss", "finished": finished, "folder": several, "set": evaluated}
    return {
        **{name: written(place, folder / name) for name, place in places.items()},
        "results": analyzed(folder),
    }


def analyzed(folder: Path) -> Path:
    """The page of an analysis: two models, five samples of the one, every state of the matrix."""
    outcomes = {"a": ["passed", "failed", "passed"], "b": ["unjudged"], "c": ["failed"]}
    lines = [
        {"task": f"1-{name}", "model": model, "sample": number, "run": "r", "outcome": outcome, "error": "E",
         "judges": {"one": "CC", "two": "LI"}, "actions": {"run": 2}, "usage": {"tokens_in": 7, "seconds": 1.5}}
        for model, names in (("big", "abc"), ("small", "ac"))
        for name in names
        for number, outcome in enumerate(outcomes[name], 1)
    ]  # fmt: skip
    results = folder / "results.jsonl"
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return analyze([results], folder / "results").folder / "results.html"


def written(place: Path, folder: Path) -> Path:
    """The report of a place."""
    return report(place, folder / "page.html", lambda message: None).path


def opened(browser: playwright.Browser, file: Path, **how: object) -> Seen:
    """A page in a window of its own."""
    page = browser.new_context(**how).new_page()
    seen = Seen(page)
    page.on("console", lambda message: seen.said.append(message.text))
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.on("dialog", lambda dialog: (seen.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: seen.loaded.append(request.url))
    page.goto(file.as_uri())
    return seen


Look = Callable[..., Seen]


@pytest.fixture
def look(browser: playwright.Browser, pages: dict[str, Path]) -> Look:
    """Open one of the pages."""
    return lambda which, **how: opened(browser, pages[which], **how)


def test_results_load_nothing_and_lead_to_the_answers(look: Look) -> None:
    seen = look("results")
    assert seen.page.locator("#matrix ~ .scroll tbody .badge").all_inner_texts() == [
        "2 of 3 solved", "2 of 3 solved", "unjudged", "missing", "failed", "failed"
    ]  # fmt: skip
    assert seen.said == []
    assert [url for url in seen.loaded if not url.startswith(("file:", "data:"))] == []
    seen.page.get_by_role("link", name="answer: failed").first.click()
    assert seen.page.url.endswith("/results.jsonl")


def test_a_task_is_drawn_and_loads_nothing(look: Look) -> None:
    seen = look("task")
    assert seen.page.locator("h1").is_visible()
    image = seen.page.locator("svg.sheet").first.bounding_box()
    assert image is not None and image["width"] > 200 and image["height"] > 200
    assert seen.page.locator("pre").first.is_visible()
    assert seen.said == []
    assert [url for url in seen.loaded if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize("which", ["task", "finished", "folder", "set", "results"])
def test_axe_finds_nothing(look: Look, which: str) -> None:
    """Other colours change nothing but their contrast."""
    seen = look(which, color_scheme="light")
    assert seen.rules_broken() == []
    seen.page.emulate_media(color_scheme="dark")
    assert seen.rules_broken("color-contrast") == []


def test_a_reviewer_sees_named_sections_and_lines_that_no_case_reaches(look: Look) -> None:
    page = look("finished").page
    assert page.locator("svg.sheet").count() >= 1
    sections = page.locator("#review-paper-section ~ details > summary").all_inner_texts()
    assert sections[:2] == ["Paper, section 2 (Choice)", "Paper, section 3 (Order)"]
    marked = page.locator("pre .marked").all_inner_texts()
    assert [re.sub(r"^\d+/\d+ ", "", " ".join(text.split())) for text in marked] == [
        "56 if score > most: ← always true", "69 return ranked[::-1] ← not reached"
    ]  # fmt: skip
    strength = page.locator(".verdict .badge", has_text="96 of 100 mutants killed")
    assert strength.get_attribute("class") == "badge good", "the threshold of the gate is passed"
    first = page.locator("#first ~ ul .warn")
    unreached = first.filter(has_text="no case reaches 1 line of the golden").get_by_role("link")
    assert unreached.get_attribute("href") == "#review-tests"
    assert page.locator(".warn").count() == first.count(), "nothing else is amber"
    for item in HUMAN:
        assert page.locator(f"#review-{item.id}").count() == 1


def test_a_passage_leads_to_its_lines_and_back_without_script(look: Look) -> None:
    page = look("finished", java_script_enabled=False).page
    assert page.locator(".passage .badge").all_inner_texts() == ["deviates", "implements"]
    page.get_by_role("link", name="Lines 72-75").click()
    line = page.locator("#golden-1-72")
    assert page.url.endswith("#golden-1-72") and "run = {" in line.inner_text() and line.is_visible()
    line.get_by_role("link", name="passage 2").click()
    assert page.url.endswith("#passage-2") and page.locator("#passage-2 blockquote").is_visible()
    page.locator("#passage-2").get_by_role("link", name="page 2").click()
    assert page.locator("figure:target figcaption").inner_text() == "Page 2"


def test_a_passage_and_its_lines_light_up_together(look: Look) -> None:
    seen = look("finished")
    lit = seen.page.locator("pre .line.lit")
    seen.page.locator("#passage-2 blockquote").hover()
    assert lit.count() == 4 and lit.first.get_attribute("id") == "golden-1-72"
    seen.page.locator("#passage-1").focus()
    assert lit.count() and "golden-1-72" not in [line.get_attribute("id") for line in lit.all()]
    seen.page.locator("#golden-1-73").hover()
    assert seen.page.locator(".passage.lit").get_attribute("id") == "passage-2"
    assert seen.said == []


def test_an_address_shows_what_was_chosen_and_keys_go_on(look: Look, pages: dict[str, Path]) -> None:
    page = look("folder").page
    page.keyboard.press("/")
    page.keyboard.type("3-broken")
    page.locator("#theme").click()
    again = look("folder").page
    again.goto(page.url)
    again.reload()
    assert again.locator("#search").input_value() == "3-broken"
    assert again.locator("#count").inner_text() == "1 of 3 tasks"
    assert again.evaluate("document.documentElement.dataset.theme") == "dark"
    task = look("finished").page
    task.keyboard.press("j")
    assert task.evaluate("document.activeElement.id") == "first"
    task.keyboard.press("j")
    task.keyboard.press("j")
    task.keyboard.press("k")
    assert task.evaluate("document.activeElement.id") == "review-instruction"
    case = page.context.new_page()
    case.goto(f"{pages['finished'].as_uri()}#case-1-of-1")
    assert case.locator("#case-1-of-1").get_attribute("open") is not None, "a link to a folded case opens it"


def test_a_set_shows_size_against_strength(look: Look) -> None:
    page = look("set").page
    dots = page.locator(".plot a title").all_text_contents()
    assert [dot.split(":")[0] for dot in dots] == ["4-demo-packing", "8-tile-score"]
    assert dots[0].startswith("4-demo-packing: 10 lines, 96 of 100 mutants killed")
    assert page.locator("#strength ~ .columns tbody tr").count() == 2, "minutes to evaluate"


def test_nothing_that_a_task_says_runs(browser: playwright.Browser, task: Task, tmp_path: Path) -> None:
    hostile(task)
    seen = opened(browser, written(task.root, tmp_path / "out"))
    seen.page.evaluate("document.querySelectorAll('details').forEach(item => item.open = true)")
    seen.page.wait_for_timeout(200)
    assert "<script>alert(1)</script>" in seen.page.inner_text("body")
    assert seen.said == []
    assert seen.page.locator("body img, body script[src], iframe").count() == 0


def test_what_slips_through_is_refused(
    browser: playwright.Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    """If a value were not escaped, the page's policy would still let no script run and nothing load."""
    file = tmp_path / "page.html"
    file.write_text(pages["task"].read_text("utf-8").replace("</main>", f"{EVIL}</main>"), "utf-8")
    seen = opened(browser, file)
    seen.page.wait_for_timeout(200)
    assert seen.page.locator("body img").count() == 1, "the markup is there"
    assert any("Content Security Policy" in text for text in seen.said)
    assert not any(text.startswith("dialog") for text in seen.said)


def test_the_list_is_used_by_keyboard(look: Look) -> None:
    seen = look("folder")
    page = seen.page
    for _ in range(5):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "search":
            break
    page.keyboard.type("3-broken")
    assert page.locator("#count").inner_text() == "1 of 3 tasks"
    assert page.locator("#tasks tbody tr:visible").count() == 1
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    assert page.locator("#tasks tbody tr:visible details[open]").count() == 1
    page.locator("#search").fill("")
    page.locator("thead button").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.locator("thead th").first.get_attribute("aria-sort") == "descending"
    assert page.locator("#tasks tbody tr th").first.inner_text().startswith("3-Broken")
    assert seen.said == []


@pytest.mark.parametrize("which", ["task", "finished", "folder", "set", "results"])
def test_a_telephone_shows_it_without_scrolling_sideways(look: Look, which: str) -> None:
    page = look(which, viewport={"width": 360, "height": 700}).page
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 360


def test_a_telephone_shows_a_task_beside_its_status(look: Look) -> None:
    page = look("folder", viewport={"width": 390, "height": 800}).page
    for row in page.locator("#tasks tbody tr").all():
        name, badge = row.locator("th").bounding_box(), row.locator(".badge").first.bounding_box()
        assert name is not None and badge is not None
        assert name["width"] >= 120 and badge["x"] + badge["width"] <= 390


def test_on_paper_everything_is_unfolded(look: Look) -> None:
    page = look("task").page
    assert page.locator("details:not([open])").count() > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0

"""A recipe with a ledger: it is judged at `validate`, kept in the task, shown on its page, and written back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.task import ledger
from lmr_author.release.recipes import STAGES, made, stages
from lmr_author.release.recipes.made import MakingRecord
from lmr_author.release.recipes.recipe import read
from lmr_author.release.recipes.stages import Build
from tests.cli.program import succeed
from tests.recipes.recipes import write_recipe

pytestmark = [pytest.mark.bwrap, pytest.mark.timeout(300)]
LEDGER = """\
- relation: implements
  lines: 6-9
  quote: We present a method that learns from pairs of answers
- relation: adds
  lines: '6'
  note: A list of another kind becomes a list.
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The task of a recipe with a ledger, made up to `mask`."""
    work = tmp_path_factory.mktemp("work")
    folder = write_recipe(work / "recipes" / "1-small")
    (folder / "ledger.yaml").write_text(LEDGER)
    build = Build(read(folder), work)
    for stage in (stages.source, stages.environment, stages.mask):
        stage(build, MakingRecord())
    return build


def test_it_is_kept_with_pages_shown_and_written_back(build: Build, tmp_path: Path) -> None:
    record = stages.check(build, MakingRecord())
    assert not [one for one in record.findings if one.code.startswith(("LMR80", "LMR000"))]
    task = build.task
    assert [entry.page for entry in ledger.load(task).entries] == [1, 0]
    succeed("report", task.root, "--html", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    anchors, links = set(re.findall(r' id="([^"]+)"', page)), set(re.findall(r'href="#([^"]+)"', page))
    assert links <= anchors and {"passage-1", "passage-2", "golden-1-6", "page-1-1"} <= links
    assert page.index('id="passage-2"') < page.index('id="passage-1"'), (
        "what the paper does not say comes first"
    )
    changed = made.content_of(task)
    task.ledger_path.write_text(task.ledger_path.read_text().replace("another kind", "other kind"))
    assert made.content_of(task) != changed


@pytest.mark.parametrize(
    ("old", "new", "place", "advice"),
    [
        ("learns from pairs", "learns from triples", "entries[0].quote: is not in the paper", "on page 1"),
        (
            "lines: 6-9",
            "lines: 6-90",
            "entries[0].lines: 6-90 is not within clamp",
            "the target is at lines 4-9",
        ),
    ],
)
def test_a_false_one_stops_the_recipe_and_leaves_the_earlier_one(
    build: Build, old: str, new: str, place: str, advice: str
) -> None:
    file, stored = build.folder.path / "ledger.yaml", build.task.ledger_path
    stages.check(build, MakingRecord())
    before = stored.read_bytes()
    file.write_text(LEDGER.replace(old, new))
    with pytest.raises(LmrError) as caught:
        stages.check(build, MakingRecord())
    assert caught.value.message.startswith(f"{file}: {place}") and advice in caught.value.hint
    assert stored.read_bytes() == before
    file.write_text(LEDGER)


def test_one_that_is_malformed_is_refused_before_anything_is_made(build: Build) -> None:
    file = build.folder.path / "ledger.yaml"
    file.write_text(LEDGER.replace("note:", "noet:"))
    with pytest.raises(LmrError, match=r"ledger\.yaml: entries\[1\]\.noet: unknown field"):
        read(build.folder.path)
    file.write_text(LEDGER)


def test_without_one_the_task_has_none(build: Build) -> None:
    file = build.folder.path / "ledger.yaml"
    stages.check(build, MakingRecord())
    with_ledger = made.wanted(build.folder)
    file.unlink()
    changed = [stage for stage, digest in made.wanted(build.folder).items() if digest != with_ledger[stage]]
    assert changed == list(STAGES[STAGES.index("validate") :])
    stages.check(build, MakingRecord())
    assert not build.task.ledger_path.exists()
    file.write_text(LEDGER)

"""Recipes become proven tasks: once, again only where something changed, and on after a kill."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lmr_author.core.repo.git import Commit, commit_folder
from lmr_author.core.task import Task, equivalents
from lmr_author.core.task.equivalents import EquivalentMutant, EquivalentMutants
from lmr_author.core.task.provenance import load as provenance
from lmr_author.core.task.recording import load as recording
from lmr_author.proof.evaluation.accepting import every_mutant
from lmr_author.release.recipes import made
from lmr_author.release.recipes.make import MakeOptions
from lmr_author.release.recipes.recipe import read
from lmr_author.release.recipes.side_by_side import make_all
from lmr_author.release.review.evidence_of_questions import evidence_of
from tests.cli.program import ENVIRONMENT, PROGRAM, lmr_forked, refuse, succeed
from tests.gitrepos import git, make_repository
from tests.recipes.recipes import change, write_recipe

pytestmark = [pytest.mark.bwrap, pytest.mark.timeout(300)]
PLAIN = ("--python", os.path.realpath(sys.executable))
"""An interpreter without this environment's packages, whose listing would take longer than all else."""
MAKE = ("make", "recipes", "--out", "tasks", *PLAIN)


LEDGER = """\
- relation: implements
  lines: 7-10
  quote: We present a method that learns from pairs of answers
"""
REASON = "two sides are named once"
PATCH = """\
--- a/steps/core.py
+++ b/steps/core.py
@@ -1,3 +1,4 @@
 \"\"\"Steps of a filter.\"\"\"
+SIDES = 2
\x20
\x20
"""


def files_of(task: Task) -> dict[str, str]:
    """What makes a task what it is; of a recording without its time."""
    content = {name.decode(): digest for name, digest in task.content()}
    for path in task.root.rglob("recording.json"):
        data = json.loads(path.read_text())
        content[path.relative_to(task.root).as_posix()] = json.dumps({**data, "created": ""})
    return content


def killed_after(stage: str, place: Path) -> None:
    """Start ``make`` and kill it when a stage is done."""
    state = place / "tasks" / ".make-1-small" / made.MADE
    process = subprocess.Popen(
        [*PROGRAM, *MAKE], cwd=place, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and stage not in made.load(state).stages:
        time.sleep(0.02)
    assert process.poll() is None, f"ended before it was killed after {stage}"
    process.kill()
    process.wait()
    assert not (place / "tasks" / "1-small").exists()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recipe, and its task, whose making was killed in `record` and in `evaluate`."""
    place = tmp_path_factory.mktemp("set")
    write_recipe(place / "recipes" / "1-small")
    killed_after("mask", place)
    begun = provenance(Task(place / "tasks" / ".make-1-small" / "1-small")).created
    killed_after("validate", place)
    done = succeed(*MAKE, "--results", "RESULTS.md", "--html", "page.html", cwd=place)
    assert re.search(
        r"1-small +answers +8 of 8 +(\d+) of \1 mutants killed, 0 accepted, 0 open +2 of 2 +\d+ +sound",
        done.out,
    ), done.out
    assert provenance(Task(place / "tasks" / "1-small")).created == begun
    assert [path.name for path in (place / "tasks").iterdir()] == ["1-small"]
    return place


@pytest.fixture
def own(place: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    shutil.copytree(place, tmp_path / "set", symlinks=True)
    return tmp_path / "set"


def test_killed_twice_it_went_on_where_it_was_to_a_proven_task(place: Path) -> None:
    task = Task(place / "tasks" / "1-small")
    info = task.load()
    assert (info.repo_url, info.paper_url) == ("https://example.org/steps", "https://example.org/p")
    (one,) = info.implementations
    found = recording(task.recording(info, one.index))
    assert found is not None and found.command == ("python", "driver.py")
    code = task.repository(info)
    assert (
        (code / "README.md").exists() and not (code / "notes").exists() and not (code / "solved.txt").exists()
    )
    record = made.load(made.path_of(task))
    assert [(answer.name, answer.outcome) for answer in record.answers] == [
        ("rewritten", "passed"),
        ("misread", "failed"),
    ]
    text = (place / "RESULTS.md").read_text()
    assert "| 1-small | answers | 8 of 8 |" in text and "| 2 of 2 |" in text
    assert "1-small" in (place / "page.html").read_text()


def test_what_did_not_change_is_not_made_again(own: Path) -> None:
    (own / "recipes" / "1-small" / "driver.py").touch()
    before = made.load(made.path_of(Task(own / "tasks" / "1-small")))
    report = succeed(*MAKE, "--format", "json", cwd=own).json()
    assert report["summary"] == {"sound": 1}
    assert [answer["right"] for answer in report["tasks"][0]["answers"]] == [True, True]
    assert {stage["state"] for stage in report["tasks"][0]["stages"]} == {"reused"}
    assert made.load(made.path_of(Task(own / "tasks" / "1-small"))) == before
    assert succeed(*MAKE, "--check", cwd=own).code == 0


def test_a_changed_driver_records_again_in_the_same_task(own: Path) -> None:
    task = Task(own / "tasks" / "1-small")
    reviews = task.reviews_folder / "ann.json"
    reviews.parent.mkdir()
    reviews.write_text("{}")
    created, masked = (
        provenance(task).created,
        task.goal(task.load(), task.load().implementations[0]).read_bytes(),
    )
    driver = own / "recipes" / "1-small" / "driver.py"
    driver.write_text(driver.read_text() + "clamp([10, 11], 5, 6)\n")
    checked = lmr_forked(*MAKE, "--check", cwd=own)
    assert checked.code == 1 and "from stage record" in checked.out

    succeed(*MAKE, cwd=own)

    found = recording(task.recording(task.load(), 1))
    assert found is not None and found.calls == 11
    assert provenance(task).created == created and reviews.read_text() == "{}"
    assert task.goal(task.load(), task.load().implementations[0]).read_bytes() == masked
    assert not (task.removed_folder / "steps" / "unit_test").exists()
    assert succeed(*MAKE, "--check", cwd=own).code == 0


def test_accepted_mutants_of_a_recipe_need_a_reason_each(own: Path) -> None:
    task, reason = Task(own / "tasks" / "1-small"), "it makes no difference on any input"
    before = files_of(task)
    entries = [
        EquivalentMutant(target, mutant.id, reason, "2026-01-01") for target, mutant in every_mutant(task)[:2]
    ]
    EquivalentMutants(accepted=tuple(entries)).write(own / "recipes" / "1-small" / made.EQUIVALENT)
    done = lmr_forked(*MAKE, cwd=own)
    assert done.code == 1 and f"equivalent-mutants.json: mutant {entries[0].id} is not accepted" in done.out
    assert files_of(task) == before


def test_another_verdict_than_expected_leaves_the_old_task(own: Path) -> None:
    before = files_of(Task(own / "tasks" / "1-small"))
    change(own / "recipes" / "1-small", lambda data: data["targets"][0]["answers"].update(misread="passed"))
    done = lmr_forked(*MAKE, cwd=own)
    assert done.code == 1
    assert "answer 1/misread: expected passed, got failed" in done.out
    assert files_of(Task(own / "tasks" / "1-small")) == before
    change(own / "recipes" / "1-small", lambda data: data["targets"][0]["answers"].update(misread="failed"))
    succeed(*MAKE, cwd=own)
    assert not (own / "tasks" / ".make-1-small").exists()


def test_a_task_that_somebody_changed_is_not_replaced(own: Path) -> None:
    readme = own / "tasks" / "1-small" / "steps" / "README.md"
    readme.write_text("# Mine\n")
    checked = lmr_forked(*MAKE, "--check", cwd=own)
    assert checked.code == 1 and "changed since it was made" in checked.out
    done = lmr_forked(*MAKE, cwd=own)
    assert done.code == 1 and "--force" in done.out
    assert readme.read_text() == "# Mine\n"


def test_own_code_claims_no_commit_and_no_origin(place: Path) -> None:
    task = Task(place / "tasks" / "1-small")
    origin = provenance(task).repository
    assert (origin.url, origin.commit, origin.own_code) == ("", "", True)
    assert origin.commit_date == "2024-01-02T12:00:00Z"
    assert "repo_commit" not in json.loads(task.info_path.read_text())
    doubts = evidence_of(task, ())["core"].doubts
    assert "no published commit has this code" in doubts
    said, hint = refuse(3, "make", "--write", "tasks/1-small", "--out", "again", cwd=place)
    assert "repository.files" in said and "published commit" in hint


def test_the_recipe_of_a_patched_task_makes_it_again_while_another_fails(own: Path) -> None:
    """Two at a time; the code comes from a clone in place of the address."""
    task, source = Task(own / "tasks" / "1-small"), own / "recipes" / "1-small"
    part = read(source).recipe.repository
    commit_folder(
        source / "repository", own / "clone", Commit(part.author, part.email, part.date, part.message)
    )
    clone = ("--clone", f"https://example.org/steps={own / 'clone'}")
    repository = {
        "url": "https://example.org/steps",
        "commit": git(own / "clone", "rev-parse", "HEAD"),
        "remove": list(part.remove),
        "patch": "guard.patch",
        "patch_reason": REASON,
    }
    change(source, lambda data: data.update(repository=repository))
    (source / "guard.patch").write_text(PATCH)
    (source / "ledger.yaml").write_text(LEDGER)
    succeed(*MAKE, *clone, cwd=own)
    assert "SIDES = 2" in (task.repository(task.load()) / "steps" / "core.py").read_text()
    assert "SIDES = 2" in (task.golden(task.load().implementations[0])).read_text()
    shutil.copyfile(source / "driver.py", own / "tasks" / "driver.py")
    _, mutant = every_mutant(task)[0]
    succeed("accept", "tasks/1-small", "--mutant", mutant.id, "--reason", "it is only for the test", cwd=own)
    succeed("make", "--write", "tasks/1-small", "--out", "again/1-small", cwd=own)
    written = read(own / "again" / "1-small").recipe.repository
    assert (own / "again" / "1-small" / "ledger.yaml").read_text() == LEDGER
    assert written.remove == part.remove != () and written.patch_reason == REASON
    assert (own / "again" / "1-small" / written.patch).read_text() == PATCH
    found = read(own / "again" / "1-small").recipe.targets[0]
    assert (found.record.command, found.record.cases) == ("python driver.py", 4)
    (accepted,) = EquivalentMutants.read(own / "again" / "1-small" / made.EQUIVALENT).accepted
    assert (accepted.id, accepted.diff) == (mutant.id, ""), "a recipe has no lines of the repository's code"
    write_recipe(own / "again" / "2-broken", 2)
    change(own / "again" / "2-broken", lambda data: data["targets"][0].update(target="steps/core.py::clam"))

    done = lmr_forked("make", "again", "--out", "made", "--jobs", "2", *clone, *PLAIN, cwd=own)

    assert done.code == 1, done.out + done.err
    assert "targets[0]: " in done.out and "did you mean" in done.out and "1 sound, 1 not sound" in done.out
    assert files_of(Task(own / "made" / "1-small")) == files_of(task)
    (accepted,) = equivalents.load(Task(own / "made" / "1-small")).accepted
    assert (accepted.reason, accepted.diff) == ("it is only for the test", mutant.diff), (
        "a reviewer sees what was accepted"
    )
    assert not (own / "made" / "2-broken").exists()


def test_side_by_side_each_says_which_stage_it_is_at(tmp_path: Path) -> None:
    folders = [read(write_recipe(tmp_path / f"{number}-small", number)) for number in (1, 2)]
    lines: list[str] = []
    rows = list(make_all(folders, MakeOptions(tmp_path / "tasks", to="source"), 2, lines.append))
    assert {row.task for row in rows} == {"1-small", "2-small"}
    assert {"1-small: source", "2-small: source"} <= set(lines)


def failing(folder: Path, *more: str) -> str:
    done = lmr_forked("make", str(folder), "--out", "tasks", *more, cwd=folder.parent)
    assert done.code == 1, done.out + done.err
    return done.out


def test_a_commit_that_the_clone_lacks_is_named(tmp_path: Path) -> None:
    folder = write_recipe(tmp_path / "1-small")
    url = "https://example.org/steps"
    change(folder, lambda data: data.update(repository={"url": url, "commit": "1" * 40}))
    clone = make_repository(tmp_path / "clone")
    said = failing(folder, "--clone", f"{url}={clone}")
    assert "recipe.yaml: repository.commit: " in said and "1" * 40 in said


@pytest.mark.parametrize("name", ["nowhere", ".", "../paper.pdf"])
def test_only_what_the_repository_has_is_taken_out(name: str, tmp_path: Path) -> None:
    folder = write_recipe(tmp_path / "1-small")
    change(folder, lambda data: data["repository"].update(remove=[name]))
    said = failing(folder)
    assert "recipe.yaml: repository.remove: " in said and repr(name) in said


def test_a_missing_driver_is_named(tmp_path: Path) -> None:
    folder = write_recipe(tmp_path / "1-small")
    (folder / "driver.py").unlink()
    said = failing(folder)
    assert "recipe.yaml: targets[0].record.command: there is no script driver.py" in said
    assert re.search(r"1-small +record ", said), "the table names the stage that failed"


def test_a_recipe_that_cannot_be_made_stays_in_the_table(tmp_path: Path) -> None:
    folder = write_recipe(tmp_path / "1-small")
    change(folder, lambda data: data.update(left_out="Its data cannot be had."))
    done = succeed("make", str(folder), "--results", "RESULTS.md", cwd=tmp_path)
    assert "left out" in done.out and not (tmp_path / "tasks").exists()
    assert "Its data cannot be had." in (tmp_path / "RESULTS.md").read_text()

"""Running checks over tasks: selection, several tasks, checks that fail, hostile folders."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from lmr_author.core import files, resources
from lmr_author.core.errors import UsageError
from lmr_author.core.task import Task
from lmr_author.proof.checks.base import INTERNAL, Problem, check
from lmr_author.proof.checks.registry import ALL_CHECKS
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.validation.run import checked, select_checks, validate
from tests import example as example_task
from tests import example as example_texts
from tests.checks import cases


@check("LMR999", "breaks", rationale="It breaks.")
def breaks(task: TaskContents) -> Iterator[Problem]:
    """Fail after the first finding."""
    yield Problem("seen", "")
    raise KeyError("missing")


def _repository(task: Task) -> Path:
    return task.root / example_texts.REPOSITORY


def test_a_check_that_fails_is_a_finding_and_the_others_go_on(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (task.root / "Dockerfile").unlink()

    report = validate([task], [breaks, *ALL_CHECKS])

    assert [one.code for one in report.findings] == [INTERNAL, "LMR201"]
    assert "LMR999" in report.findings[0].message and "KeyError" in report.findings[0].message


def test_codes_and_their_beginnings_select_checks() -> None:
    assert [one.code for one in select_checks(["lmr401"])] == ["LMR401"]
    assert {one.code[:4] for one in select_checks(["LMR4", "LMR7"])} == {"LMR4", "LMR7"}
    assert {one.code for one in select_checks(["LMR40"], ["LMR401,LMR402"])} == {
        "LMR403",
        "LMR404",
        "LMR405",
        "LMR406",
    }
    assert select_checks() == ALL_CHECKS
    for wrong in ("LMR9", "E501", "4", "LMR4x"):
        with pytest.raises(UsageError):
            select_checks([wrong])


def test_one_broken_task_does_not_stop_the_others(tmp_path: Path) -> None:
    good = example_task.write(tmp_path)
    broken = example_task.write(tmp_path, 2)
    (broken.root / "info.json").write_bytes(b"\xff\xfe{")
    empty = Task(tmp_path / "3-Empty")
    empty.root.mkdir()

    report = validate([good, broken, empty])

    assert [task.task for task in report.tasks] == [good.name, broken.name, empty.name]
    assert report.tasks[0].findings == ()
    assert [one.code for one in report.tasks[1].findings] == ["LMR001"]
    assert {one.code for one in report.tasks[2].findings} == {"LMR001", "LMR201"}


def test_two_tasks_of_one_name_keep_their_own_findings(tmp_path: Path) -> None:
    one = example_task.write(tmp_path / "a")
    other = example_task.write(tmp_path / "b")

    report = validate([one, other])

    assert [[finding.code for finding in task.findings] for task in report.tasks] == [
        ["LMR008", "LMR011"]
    ] * 2


def test_a_task_made_by_hand_needs_no_records(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    shutil.rmtree(task.root / "authoring")

    assert validate([task]).findings == ()


def test_the_report_is_as_its_schema_says(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    for code in ("LMR003", "LMR203", "LMR401", "LMR704"):
        cases.first(code).apply(task)
    document = json.loads(json.dumps(validate([task]).to_json()))

    finding = Resource.from_contents(resources.schema("finding"))
    registry = Registry().with_resources([(resources.schema("finding")["$id"], finding)])
    Draft202012Validator(resources.schema("validation"), registry=registry).validate(document)
    findings = document["tasks"][0]["findings"]
    assert len(findings) == sum(document["summary"][name] for name in ("errors", "warnings", "notes")) > 0


def test_one_cause_in_one_folder_is_one_finding_that_lists_its_files(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (task.root / "data").mkdir()
    for number in range(5):
        (_repository(task) / f"link{number}").symlink_to("nowhere")
    (task.root / "data" / "link").symlink_to("nowhere")

    one, many = validate([task]).findings

    assert (one.path, one.files) == ("data/link", ())
    assert many.message == "5 × broken symbolic link in margin-ranking/, e.g. link0, link1"
    assert many.path == "margin-ranking" and many.files[4] == "margin-ranking/link4"


def test_records_of_an_earlier_state_are_asked_about_elsewhere(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    task.dockerfile.unlink()
    review = {"format": "lmr-review/1", "reviewer": "ada", "signed_off": True, "content_digest": "0" * 64}
    files.write_json(task.reviews_folder / "ada.json", review)

    everything = {finding.code for finding in validate([task]).findings}

    assert "LMR803" in everything
    assert {finding.code for finding in checked([task]).findings} == everything - {"LMR803"}


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(
        [
            "ranking/losses.py",
            "../x",
            "/",
            "\0",
            "a" * 5000,
            "golden_files/losses_golden.py",
            "unit_test/unit_test_1.py",
            "\ud800",
            ".",
        ]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_info_json_is_only_a_matter_of_findings(data: st.DataObject, tmp_path: Path) -> None:
    folder = tmp_path / "fuzz"
    shutil.rmtree(folder, ignore_errors=True)
    task = example_task.write(folder)
    info = task.load_raw()
    for key in data.draw(st.lists(st.sampled_from(sorted(info)), max_size=3, unique=True)):
        info[key] = data.draw(VALUES)
    entry = dict(example_texts.INFO["implementations"][0])
    for key in data.draw(st.lists(st.sampled_from(sorted(entry)), max_size=4, unique=True)):
        entry[key] = data.draw(VALUES)
    if isinstance(info.get("implementations"), list):
        info["implementations"] = [entry, *data.draw(st.lists(VALUES, max_size=2))]
    (task.root / "info.json").write_text(json.dumps(info))

    report = validate([task])

    assert [one for one in report.findings if one.code == INTERNAL] == []
    json.dumps(report.to_json(), ensure_ascii=False).encode("utf-8", "surrogatepass")

"""What reviewers make of a task, in every export: released is what they accepted."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from lmr_author.cli.app import main
from lmr_author.core.task import Task
from lmr_author.release.export.export import export
from lmr_author.release.export.options import ExportOptions
from tests.review.reviewing import all_said

FORMATS = ("agent", "lmr-bench", "harbor", "huggingface")
VERDICTS: dict[str, list[dict[str, str]]] = {
    "accepted": [{}, {}, {}],
    "rejected": [{"core": "fail"}] * 3,
    "disputed": [{}, {}, {"core": "fail"}],
    "not reviewed": [{}],
}


def marks(task: Task, to: str, out: Path) -> dict[str, Any]:
    """The mark in the public metadata of an export: review, and whether the task is sound."""
    if to == "agent":
        return dict(json.loads((out / task.name / "task.json").read_text()))
    if to == "harbor":
        return dict(tomllib.loads((out / f"{task.name}-1" / "task.toml").read_text())["metadata"])
    if to == "lmr-bench":
        document = json.loads((out / task.name / "info.json").read_text())
    else:
        document = json.loads((out / "data" / "implementations.jsonl").read_text())
    return {**document, "sound": not (document.get("not_sound") or document.get("problems"))}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_released_is_what_reviewers_accepted(
    example: Task,
    tmp_path: Path,
    verdict: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    all_said(example, *VERDICTS[verdict])
    for to in FORMATS:
        plain, marked, forced = tmp_path / f"{to}-plain", tmp_path / f"{to}-marked", tmp_path / f"{to}-forced"
        done = export([example], ExportOptions(to, plain))
        assert plain.exists() == (verdict == "accepted"), (to, done)
        export([example], ExportOptions(to, marked, unreviewed=True))
        assert marked.exists() == (verdict in ("accepted", "not reviewed"))
        export([example], ExportOptions(to, forced, force=True))
        found = marks(example, to, forced)
        assert found["review"] == verdict
        assert found["sound"] == (verdict in ("accepted", "not reviewed"))
    card = (tmp_path / "huggingface-forced" / "README.md").read_text()
    described = json.loads((tmp_path / "huggingface-forced" / "croissant.json").read_text())["description"]
    assert ("**Not reviewed.**" in card) == ("Not reviewed" in described) == (verdict == "not reviewed")
    assert ("by its reviewers" in card) == (verdict in ("rejected", "disputed"))

    # At a terminal the refusal names the command, which works as it is.
    code = main(["export", str(example.root), "--to", "agent", "--out", "again"])
    said_so = capsys.readouterr().err
    assert code == (0 if verdict == "accepted" else 1)
    if verdict == "not reviewed":
        [command] = [line for line in said_so.splitlines() if line.startswith("next: ")]
        assert main(shlex.split(command.removeprefix("next: lmr-author "))) == 0
    elif verdict != "accepted":
        assert f"{verdict} by its reviewers" in said_so and "--force" in said_so


def test_a_review_of_an_earlier_state_releases_nothing(example: Task, tmp_path: Path) -> None:
    all_said(example)
    raw = example.load_raw()
    raw["implementations"][0]["instruction"] += " Mind the signs of the margins."
    example.info_path.write_text(json.dumps(raw))
    done = export([example], ExportOptions("agent", tmp_path / "out"))
    assert list(done.unreviewed) == [example.name] and not (tmp_path / "out").exists()


def test_a_forced_bundle_does_not_say_what_is_wrong(example: Task, tmp_path: Path) -> None:
    leak = example.root / "prefopt" / "backup.py"
    item = example.load().implementations[0]
    leak.write_bytes(example.golden(item).read_bytes())
    done = export([example], ExportOptions("agent", tmp_path / "out", force=True))
    assert any("backup.py" in problem for problem in done.unsound[example.name])
    document = (tmp_path / "out" / example.name / "task.json").read_text()
    assert json.loads(document)["sound"] is False
    assert "backup.py" not in document and "LMR" not in document

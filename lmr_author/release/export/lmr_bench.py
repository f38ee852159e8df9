"""Task folders as LMR-Bench's own scripts read them, and the table that its OpenHands runner loads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from lmr_author.core import files, quoting
from lmr_author.core.task import INFO, UNIT_TEST
from lmr_author.core.task.mutation import MutationScore
from lmr_author.release.export.agent import copy_environment
from lmr_author.release.export.options import Exportable, ExportOptions
from lmr_author.runtime.replay.staging import copy_tree

HUB = "shinyy1997"
"""Account of the images that their scripts try to pull before they build one."""
TABLE = "train.jsonl"

_TEXT, _TEXTS, _NUMBER = {"dtype": "string"}, {"list": "string"}, {"dtype": "int64"}
_TASK = {
    "instance_id": _NUMBER, "paper_name": _TEXT, "folder_name": _TEXT, "paper_url": _TEXT, "year": _NUMBER,
    "repo_url": _TEXT, "repo_folder_name": _TEXT, "repo_commit": _TEXT, "repo_patch": _TEXT, "license": _TEXT,
    "review": _TEXT,
}  # fmt: skip
_IMPLEMENTATION = {
    "instruction": _TEXT, "index": _NUMBER, "category": _TEXT, "goal_file": _TEXT, "goal_function": _TEXT,
    "class_name": _TEXT, "golden_file": _TEXT, "retrieval_context": _TEXTS, "retrieval_content": _TEXTS,
    "unit_test_file": _TEXT,
}  # fmt: skip


def image_of(name: str) -> str:
    """Return the image that LMR-Bench's scripts pull, if it exists, instead of building a task's."""
    return f"{HUB}/{name.lower()}"


def write_lmr_bench(tasks: list[Exportable], folder: Path, options: ExportOptions) -> None:
    """Write a folder for each task, without ``authoring/`` and logs of test runs, and the table."""
    rows = []
    for exportable in tasks:
        target = folder / exportable.task.name
        repository = exportable.task.repository(exportable.info)
        copy_tree(repository, target / repository.name, {}, with_tests=True)
        # Their script takes any log with "Passed" in it for a pass.
        shutil.rmtree(target / repository.name / UNIT_TEST / "logs", ignore_errors=True)
        copy_environment(exportable.task, target, options.base_image)
        for implementation in exportable.info.implementations:
            golden = files.inside(target, implementation.golden_file)
            golden.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(exportable.task.golden(implementation), golden)
        document = exportable.info.to_json()
        for entry in document["implementations"]:
            # 20 of the 35 published entries spell the key this way, and their prompt script reads only it.
            entry["retrieval_content"] = entry["retrieval_context"]
        document["folder_name"], document["review"] = exportable.task.name, exportable.review
        document["mutants"] = MutationScore.total(exportable.mutants.values()).to_json()
        if exportable.problems:
            document["not_sound"] = list(exportable.problems)
        files.write_json(target / INFO, document)
        rows.append(_row(document))
    files.write_text(folder / TABLE, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    files.write_text(folder / "README.md", f"---\n{quoting.yaml(_front_matter())}---\n\n{_CARD}")


_CARD = """\
# Tasks for LMR-Bench's runners

Each folder is a task; `train.jsonl` is their table: `load_dataset(THIS_FOLDER, split="train")`.
The folders hold goldens and unit tests: publish neither, and keep them from the models under evaluation.
"""


def _row(document: dict[str, Any]) -> dict[str, Any]:
    """Return a task's row; every task has the same columns."""
    row = {key: document.get(key, 0 if kind is _NUMBER else "") for key, kind in _TASK.items()}
    entries = [{key: entry[key] for key in _IMPLEMENTATION} for entry in document["implementations"]]
    return {**row, "implementations": entries}


def _front_matter() -> dict[str, Any]:
    inner = [{"name": name, **kind} for name, kind in _IMPLEMENTATION.items()]
    columns = [{"name": name, **kind} for name, kind in _TASK.items()]
    return {
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": TABLE}]}],
        "dataset_info": [
            {"config_name": "default", "features": [*columns, {"name": "implementations", "list": inner}]}
        ],
    }

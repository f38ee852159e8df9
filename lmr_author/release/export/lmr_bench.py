"""Task folders as LMR-Bench's own scripts read them."""

from __future__ import annotations

import shutil
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.task import INFO, UNIT_TEST
from lmr_author.release.export.agent import copy_environment
from lmr_author.release.export.soundness import Exportable
from lmr_author.runtime.replay.staging import copy_tree


def write_lmr_bench(tasks: list[Exportable], folder: Path, base_image: str) -> None:
    """Write one folder for each task: all of it but ``authoring/`` and the logs of test runs."""
    for one in tasks:
        target = folder / one.task.name
        repository = one.task.repository(one.info)
        copy_tree(repository, target / repository.name, {}, with_tests=True)
        # Their script takes any log with "Passed" in it for a pass.
        shutil.rmtree(target / repository.name / UNIT_TEST / "logs", ignore_errors=True)
        copy_environment(one.task, target, base_image)
        for item in one.info.implementations:
            golden = files.inside(target, item.golden_file)
            golden.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(one.task.golden(item), golden)
        document = one.info.to_json()
        for entry in document["implementations"]:
            # 20 of the 35 published entries spell the key this way, and their prompt script reads only it.
            entry["retrieval_content"] = entry["retrieval_context"]
        document["folder_name"], document["review"] = one.task.name, one.review
        if one.problems:
            document["not_sound"] = list(one.problems)
        files.write_json(target / INFO, document)

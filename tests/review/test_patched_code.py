"""Reviewers see that the code is not as its authors published it: as weak evidence, with the diff, and on the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.task import Task
from lmr_author.core.task.provenance import PatchOrigin, Provenance
from lmr_author.release.review.evidence_of_questions import evidence_of
from tests.cli.program import succeed

PATCH = "--- a/run.py\n+++ b/run.py\n@@ -1 +1 @@\n-main()\n+if __name__ == '__main__': main()\n"
REASON = "the file runs when it is imported"


def patched(task: Task) -> Task:
    digest = files.sha256_bytes(PATCH.encode())
    task.patch_path.parent.mkdir()
    task.patch_path.write_text(PATCH)
    task.save(replace(task.load(), repo_patch=digest))
    origin = Provenance.read(task.provenance_path)
    repository = replace(origin.repository, patch=PatchOrigin(sha256=digest, reason=REASON))
    replace(origin, repository=repository).write(task.provenance_path)
    return task


def test_the_patch_is_weak_evidence_with_its_diff(task: Task) -> None:
    assert not any("patch" in doubt for doubt in evidence_of(task, ())["core"].doubts)
    evidence = evidence_of(patched(task), ())["core"]
    assert f"the authors' code is patched: {REASON}" in evidence.doubts
    (shown,) = [piece for piece in evidence.pieces if piece.diff]
    assert shown.diff == PATCH and REASON in shown.title


def test_the_page_has_patch_and_reason(task: Task, tmp_path: Path) -> None:
    patched(task)
    succeed("report", task.root, "--html", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    assert 'href="#review-core">patched' in page and REASON in page and "-main()" in page


def test_exports_name_the_patch(task: Task, tmp_path: Path) -> None:
    digest = patched(task).load().repo_patch
    for to in ("harbor", "huggingface", "lmr-bench"):
        succeed("export", task.root, "--to", to, "--out", to, "--force", cwd=tmp_path)
    (toml,) = (tmp_path / "harbor").rglob("task.toml")
    assert f'repo_patch = "{digest}"' in toml.read_text()
    row = json.loads((tmp_path / "huggingface/data/implementations.jsonl").read_text().splitlines()[0])
    assert row["repo_patch"] == digest
    info = json.loads((tmp_path / "lmr-bench" / task.name / "info.json").read_text())
    assert info["repo_patch"] == digest
    for to in ("harbor", "huggingface", "lmr-bench"):
        assert not list((tmp_path / to).rglob("*.patch")), "it has lines of the golden"

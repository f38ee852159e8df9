"""A task of a patched commit says so: in info.json, in its provenance, and with the patch itself."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from lmr_author.core import files, resources
from lmr_author.core.task.provenance import load
from lmr_author.proof.validation.run import validate
from tests.cli.program import refuse, succeed
from tests.gitrepos import git
from tests.new_task.making import make, refused

PATCH = "--- a/train.py\n+++ b/train.py\n@@ -1 +1,4 @@\n import numpy\n+\n+def main():\n+    pass\n"
REASON = "the loss is a block of main"


@pytest.fixture
def patch(tmp_path: Path) -> Path:
    path = tmp_path / "guard.patch"
    path.write_text(PATCH)
    return path


def test_the_task_names_commit_and_patch(tmp_path: Path, pdf: Path, source: Path, patch: Path) -> None:
    made = make(tmp_path, pdf, source, patch=patch, patch_reason=REASON)
    assert "def main():" in (made.task.repository(made.info) / "train.py").read_text()
    assert made.task.patch_path.read_text() == PATCH
    digest = files.sha256_bytes(PATCH.encode())
    assert (made.info.repo_commit, made.info.repo_patch) == (git(source, "rev-parse", "HEAD"), digest)
    origin = load(made.task).repository
    assert origin.patch is not None and (origin.patch.sha256, origin.patch.reason) == (digest, REASON)
    jsonschema.validate(json.loads(made.task.provenance_path.read_text()), resources.schema("provenance"))
    jsonschema.validate(json.loads(made.task.info_path.read_text()), resources.schema("info"))


def test_validate_reports_another_patch(tmp_path: Path, pdf: Path, source: Path, patch: Path) -> None:
    task = make(tmp_path, pdf, source, patch=patch, patch_reason=REASON).task

    def codes() -> set[str]:
        return {finding.code for finding in validate([task]).findings}

    assert "LMR804" not in codes()
    task.patch_path.write_text(PATCH.replace("pass", "return 1"))
    assert "LMR804" in codes()
    task.patch_path.unlink()
    assert "LMR804" in codes()


def test_a_patch_needs_a_reason_and_a_file(tmp_path: Path, pdf: Path, source: Path, patch: Path) -> None:
    assert "--patch-reason" in refused(tmp_path, pdf, source, patch=patch).hint
    assert "--patch-reason" in refused(tmp_path, pdf, source, patch=patch, patch_reason="needed").hint
    assert "--patch FILE" in refused(tmp_path, pdf, source, patch_reason=REASON).hint
    assert (
        "no such file" in refused(tmp_path, pdf, source, patch=tmp_path / "none", patch_reason=REASON).message
    )
    patch.write_text(PATCH.replace(" import numpy", " import torch"))
    assert "train.py:1" in refused(tmp_path, pdf, source, patch=patch, patch_reason=REASON).message


def test_the_command_line(tmp_path: Path, pdf: Path, source: Path, patch: Path) -> None:
    words = ("new-task", pdf, "--repo", source, "--offline", "--no-input", "--patch", patch)
    _, hint = refuse(2, *words, cwd=tmp_path)
    assert "--patch-reason" in hint
    done = succeed(*words, "--patch-reason", REASON, cwd=tmp_path)
    assert ", patched" in done.err

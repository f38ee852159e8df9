"""Where findings are: values in JSON, and lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core.task import Finding, Severity
from lmr_author.proof.validation.report import Places
from tests import example as example_task


def _finding(path: str, pointer: str, message: str) -> Finding:
    return Finding("LMR999", Severity.ERROR, "t", message, path=path, pointer=pointer)


def test_several_lines_and_none(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    task.dockerfile.write_text("a\nb\nc\nd\n")
    found = Places(task)

    place = found.of(_finding("Dockerfile", "L2-L3", ""))
    assert place is not None and place.lines == ("b", "c")
    for pointer in ("L9", "", "cell 3", "Lx", "/a"):
        assert found.of(_finding("Dockerfile", pointer, "")) is None
    assert found.of(_finding("", "L1", "")) is None
    assert found.of(_finding("missing", "L1", "")) is None


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        ("/year", '"year": 2024'),
        ("/implementations/0/category", '"category": "Training Objectives & Optimization"'),
        ("/implementations/1/category", '"category": "wrong"'),
        ("/implementations/1/retrieval_context/0", '"retrieval_content": ['),
        ("/implementations/2/category", None),
        ("/implementations/0/missing", None),
        ("/implementations/0", None),
    ],
)
def test_a_pointer_is_the_line_of_its_key(pointer: str, shown: str | None, tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    info = task.load_raw()
    first = info["implementations"][0]
    second = {**first, "retrieval_content": first["retrieval_context"], "category": "wrong"}
    del second["retrieval_context"]
    example_task.apply(
        task, example_task.Example("", info={"implementations": [first, second], "year": 2024})
    )

    place = Places(task).of(_finding("info.json", pointer, ""))

    assert (place.lines[0].strip().rstrip(",") if place else None) == shown


def test_no_line_of_a_file_outside_is_shown(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (tmp_path / "secret").write_text("secret\n")
    (task.root / "inner").symlink_to(tmp_path / "secret")

    for path in ("inner", "../secret", "/etc/passwd", "margin-ranking"):
        assert Places(task).of(_finding(path, "L1", "")) is None

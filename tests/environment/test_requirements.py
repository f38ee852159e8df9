"""Requirements files: pip's format, read and never obeyed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from lmr_author.environment.recipe import Unused
from lmr_author.environment.requirements import parse_requirement, read_requirements


def read(root: Path, text: str | bytes, name: str = "requirements.txt") -> tuple[list[str], list[str]]:
    """(requirements with origin, problems) of a file."""
    (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    manifest = read_requirements(root, name)
    return [str(item) for item in manifest.declared], [*manifest.problems, *map(str, manifest.unused)]


def test_comments_options_markers_and_continuations(tmp_path: Path) -> None:
    text = (
        "# head\n\ntorch==2.0.1  # exact\nnumpy>=1.20, <2 ; python_version >= '3.8'\r\n"
        "transformers[torch,sentencepiece] \\\n  ==4.29.2 \\\n  --hash=sha256:abc\nscipy#not a comment\nlast"
    )
    declared, problems = read(tmp_path, text)
    assert declared == [
        "torch==2.0.1 (requirements.txt:3)",
        'numpy<2,>=1.20; python_version >= "3.8" (requirements.txt:4)',
        "transformers[sentencepiece,torch]==4.29.2 (requirements.txt:5)",
        "last (requirements.txt:9)",
    ]
    assert len(problems) == 1
    assert "scipy#not a comment" in problems[0]


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://evil.example/simple",
        "--extra-index-url=https://evil.example",
        "--find-links /tmp",
        "--pre",
        "-e .",
        "-e git+https://evil.example/x#egg=x",
        "x @ git+https://evil.example/x",
        "x @ file:///etc/passwd",
        "https://evil.example/x-1.0-py3-none-any.whl",
        "../x",
        "x==1.0; import os",
        "$(touch x)",
        "x\x00y",
    ],
)
def test_nothing_but_names_and_versions_is_used(tmp_path: Path, line: str) -> None:
    declared, problems = read(tmp_path, f"good==1\n{line}\n")
    assert declared == ["good==1 (requirements.txt:1)"]
    assert len(problems) == 1
    assert problems[0].startswith("requirements.txt:2: not used")
    assert problems[0].isprintable()
    assert ("an option" in problems[0]) == line.startswith("-")


def test_included_files_are_read_inside_the_repository_only(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "base.txt").write_text("six\n-r ../more.txt\n")
    (tmp_path / "more.txt").write_text("regex\n-r requirements.txt\n")
    declared, problems = read(
        tmp_path, "-r requirements/base.txt\n--requirement=gone.txt\n-r ../../etc/passwd\n-r/etc/passwd\n"
    )
    assert declared == ["six (requirements/base.txt:1)", "regex (more.txt:1)"]
    assert len(problems) == 4
    assert "root:" not in " ".join(problems)


@pytest.mark.parametrize(
    "encoded",
    [
        "numpy==1.0\ntqdm\n".encode("utf-16"),
        b"\xff\xfe" + "numpy==1.0\ntqdm\n".encode("utf-16-le"),
        b"\xef\xbb\xbfnumpy==1.0\ntqdm\n",
        "# -*- coding: latin-1 -*-\n# é\nnumpy==1.0\ntqdm".encode("latin-1"),
        "# é\nnumpy==1.0\rtqdm".encode("latin-1"),
    ],
)
def test_encodings(tmp_path: Path, encoded: bytes) -> None:
    declared, problems = read(tmp_path, encoded)
    assert [item.partition(" ")[0] for item in declared] == ["numpy==1.0", "tqdm"]
    assert problems == []


@given(st.text(max_size=60))
def test_what_is_taken_is_one_line_by_name_and_version(text: str) -> None:
    parsed = parse_requirement(text, "here")
    if isinstance(parsed, Unused):
        assert "not used" in str(parsed)
        assert str(parsed).isprintable()
        return
    assert "\n" not in parsed.text
    assert not parsed.text.startswith("-")
    assert Requirement(parsed.text).url is None

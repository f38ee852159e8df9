"""Files that declare requirements, hostile and broken ones: read, and never obeyed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from lmr_author.runtime.environment.manifests import read_manifest
from lmr_author.runtime.environment.requirements import (
    Manifest,
    conda_requirement,
    parse_requirement,
    read_requirements,
)
from tests.support import write_files


def read(root: Path, name: str, text: str) -> Manifest:
    """The content of one file."""
    return read_manifest(write_files(root, {name: text}), name)


def texts(manifest: Manifest) -> list[str]:
    return [item.text for item in manifest.declared]


def test_setup_py_is_read_and_not_run(tmp_path: Path) -> None:
    text = f"""import setuptools, pathlib
pathlib.Path({str(tmp_path / "ran")!r}).touch()
def main():
    setuptools.setup(name="a-b", version="4.1", python_requires=">=3.8", install_requires=["torch>=1.13", "six"])
main()"""
    found = read(tmp_path, "setup.py", text)
    assert texts(found) == ["torch>=1.13", "six"]
    assert (found.project, found.version, found.python.text) == ("a-b", "4.1", ">=3.8")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("numpy", ("numpy", "numpy")),
        ("numpy==1.2.3", ("numpy", "numpy==1.2.3")),
        ("numpy=1.2.*", ("numpy", "numpy==1.2.*")),
        ("numpy[version='>=1']", ("numpy", "numpy")),
        ("openssl=1.1.1w=h7f8727e_0", ("openssl", "")),
        ("_libgcc_mutex=0.1=main", ("_libgcc_mutex", "")),
        ("pytorch-cuda=11.8", ("pytorch-cuda", "")),
        ("python", ("python", "")),
        ("*", ("", "")),
    ],
)
def test_conda_specifications(spec: str, expected: tuple[str, str]) -> None:
    assert conda_requirement(spec) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project"),
        ("pyproject.toml", "project = 1\ntool = 2"),
        ("pyproject.toml", "[project]\nname = 1\ndependencies = 'torch'"),
        ("setup.cfg", "no section"),
        ("setup.py", "def ("),
        ("setup.py", "setup(install_requires=f(x), name=n)"),
        ("setup.py", "x = x\nsetup(install_requires=x)"),
        ("environment.yml", "a: [b"),
        ("environment.yml", "!!python/object/apply:os.system ['touch ran']"),
        ("environment.yml", "- a\n- b"),
        ("environment.yml", "dependencies: {a: b}"),
        ("environment.yml", "dependencies: [1, null, [x], {pip: 3}]"),
    ],
)
def test_broken_files_declare_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path, name, text).declared == []
    assert not (tmp_path / "ran").exists()


# pip's requirements files


def test_comments_options_markers_and_continuations(tmp_path: Path) -> None:
    text = (
        "# head\n\ntorch==2.0.1  # exact\nnumpy>=1.20, <2 ; python_version >= '3.8'\r\n"
        "transformers[torch,sentencepiece] \\\n  ==4.29.2 \\\n  --hash=sha256:abc\nscipy#not a comment\nlast"
    )
    found = read_requirements(write_files(tmp_path, {"r.txt": text}), "r.txt")
    assert [str(item) for item in found.declared] == [
        "torch==2.0.1 (r.txt:3)",
        'numpy<2,>=1.20; python_version >= "3.8" (r.txt:4)',
        "transformers[sentencepiece,torch]==4.29.2 (r.txt:5)",
        "last (r.txt:9)",
    ]
    (problem,) = found.problems
    assert "scipy#not a comment" in problem


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://evil.example/simple",
        "--extra-index-url=https://evil.example",
        "--find-links /tmp",
        "--pre",
        "-c bounds.txt",
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
    found = read_requirements(write_files(tmp_path, {"r.txt": f"good==1\n{line}\n"}), "r.txt")
    assert texts(found) == ["good==1"]
    (problem,) = found.problems
    assert problem.startswith("r.txt:2: not used") and problem.isprintable()
    assert ("an option" in problem) == line.startswith(("--", "-c"))


def test_included_files_are_read_inside_the_repository_only(tmp_path: Path) -> None:
    included = "-r requirements/base.txt\n--requirement=gone.txt\n-r ../../etc/passwd\n-r/etc/passwd\n"
    files = {
        "r.txt": included,
        "requirements/base.txt": "six\n-r ../more.txt\n",
        "more.txt": "regex\n-r r.txt\n",
    }
    found = read_requirements(write_files(tmp_path, files), "r.txt")
    assert [str(item) for item in found.declared] == ["six (requirements/base.txt:1)", "regex (more.txt:1)"]
    assert len(found.problems) == 4 and "root:" not in " ".join(found.problems)


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
    (tmp_path / "r.txt").write_bytes(encoded)
    found = read_requirements(tmp_path, "r.txt")
    assert (texts(found), found.problems) == (["numpy==1.0", "tqdm"], [])


@given(st.text(max_size=60))
def test_what_is_taken_is_one_line_by_name_and_version(text: str) -> None:
    parsed = parse_requirement(text, "here")
    if isinstance(parsed, str):
        assert "not used" in parsed and parsed.isprintable()
        return
    assert "\n" not in parsed.text and not parsed.text.startswith("-")
    assert Requirement(parsed.text).url is None

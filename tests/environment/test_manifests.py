"""pyproject.toml, setup.cfg, setup.py, environment.yml."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.environment.manifests import read_manifest
from lmr_author.environment.recipe import Manifest
from lmr_author.environment.requirements import conda_requirement


def texts(manifest: Manifest) -> list[str]:
    return [item.text for item in manifest.declared]


def write(root: Path, name: str, text: str) -> Path:
    (root / name).write_text(text)
    return root


def test_pyproject_project(tmp_path: Path) -> None:
    text = """[project]
name = "My_Pkg"
requires-python = ">=3.9"
dependencies = ["torch>=2", "a @ https://x.example/a.whl", "b; extra == 'c'"]
dynamic = ["version"]"""
    found = read_manifest(write(tmp_path, "pyproject.toml", text), "pyproject.toml")
    assert (texts(found), found.python, found.project) == (["torch>=2", 'b; extra == "c"'], ">=3.9", "my-pkg")
    assert [item.name for item in found.unused] == ["a"] and not found.problems


def test_pyproject_poetry(tmp_path: Path) -> None:
    text = """[tool.poetry]
name = "x"
[tool.poetry.dependencies]
python = "^3.8"
torch = "^2.1.2"
zero = "^0.3.1"
tilde = "~1.4"
exact = "1.0"
any = "*"
range = ">=1,<3"
extra = {version = "^1.0", extras = ["q", "p"]}
opt = {version = "1", optional = true}
vcs = {git = "https://x.example/r.git"}"""
    found = read_manifest(write(tmp_path, "pyproject.toml", text), "pyproject.toml")
    assert texts(found) == [
        "torch<3,>=2.1.2", "zero<0.4,>=0.3.1", "tilde<1.5,>=1.4", "exact==1.0", "any", "range<3,>=1",
        "extra[p,q]<2,>=1.0",
    ]  # fmt: skip
    assert found.python == ">=3.8,<4"
    assert "vcs comes from a repository" in str(found.unused[0])


def test_setup_cfg(tmp_path: Path) -> None:
    text = (
        "[metadata]\nname = thing\n[options]\npython_requires = >=3.7\n"
        "install_requires =\n    # c\n    torch>=1.8; python_version<'3.10'\n    six\n"
    )
    found = read_manifest(write(tmp_path, "setup.cfg", text), "setup.cfg")
    assert (texts(found), found.project, found.python) == (
        ['torch>=1.8; python_version < "3.10"', "six"], "thing", ">=3.7",
    )  # fmt: skip


def test_setup_py_is_read_and_not_run(tmp_path: Path) -> None:
    text = f"""import setuptools, pathlib
pathlib.Path({str(tmp_path / "ran")!r}).touch()
BASE = ["torch>=1.13", "six"]
def main():
    more = ["tqdm"] + open("x").read().split()
    setuptools.setup(name="a-b", python_requires=">=3.8", install_requires=BASE + more)
main()"""
    found = read_manifest(write(tmp_path, "setup.py", text), "setup.py")
    assert [str(item) for item in found.declared] == [
        "torch>=1.13 (setup.py:3)",
        "six (setup.py:3)",
        "tqdm (setup.py:5)",
    ]
    assert (found.project, found.python) == ("a-b", ">=3.8")
    assert found.problems == ("setup.py: part of install_requires is computed and was not read",)
    assert not (tmp_path / "ran").exists()


def test_environment_yml(tmp_path: Path) -> None:
    text = """name: x
channels: [pytorch]
dependencies:
  - python=3.8.5
  - pytorch=1.12.1=py3.8_cuda11.3_cudnn8.3.2_0
  - cudatoolkit=11.3
  - numpy=1.19
  - conda-forge::faiss-gpu
  - libgcc-ng=9.1.0=hdf63c60_0
  - scipy>=1.5
  - pandas 1.1.*
  - pip
  - pip:
    - transformers==4.3.1
    - -e .
    - --extra-index-url https://x.example
"""
    found = read_manifest(write(tmp_path, "environment.yml", text), "environment.yml")
    assert texts(found) == [
        "torch==1.12.1",
        "numpy==1.19.*",
        "faiss-cpu",
        "scipy>=1.5",
        "pandas==1.1.*",
        "transformers==4.3.1",
    ]
    assert found.python == "==3.8.5"
    assert len([*found.problems, *found.unused]) == 2


def test_the_pip_part_of_an_environment_includes_files(tmp_path: Path) -> None:
    (tmp_path / "conda").mkdir()
    write(
        tmp_path,
        "conda/environment.yml",
        "dependencies:\n- pip:\n  - -r more.txt\n  - -r ../../outside.txt\n",
    )
    write(tmp_path, "conda/more.txt", "six\n")
    found = read_manifest(tmp_path, "conda/environment.yml")
    assert [str(item) for item in found.declared] == ["six (conda/more.txt:1)"]
    (problem,) = found.problems
    assert "does not stay inside" in problem


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
    assert read_manifest(write(tmp_path, name, text), name).declared == ()
    assert not (tmp_path / "ran").exists()


def test_versions_of_a_lock_file_are_constraints(tmp_path: Path) -> None:
    packages = {
        "numpy": 'version = "1.26.4"\nsource = { registry = "https://pypi.org/simple" }',
        "torch": 'version = "2.1.0+cu118"',
        "own": 'version = "0.1"\nsource = { editable = "." }',
        "fork": 'version = "1"\n[package.source]\ntype = "git"',
    }
    text = "".join(f'[[package]]\nname = "{name}"\n{rest}\n' for name, rest in packages.items())
    text += '[[package]]\nname = "two"\nversion = "1"\n[[package]]\nname = "two"\nversion = "2"\n'
    found = read_manifest(write(tmp_path, "uv.lock", text), "uv.lock")
    assert [str(item) for item in found.constraints] == [
        "numpy==1.26.4 (uv.lock:1)",
        "torch==2.1.0 (uv.lock:5)",
    ]

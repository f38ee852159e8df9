"""What the scripts for contributors put into an image."""

from __future__ import annotations

import io
import subprocess
import tarfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """scripts/make-base-image as a module."""
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader = SourceFileLoader("make_base_image", str(SCRIPTS / "make-base-image"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def contents(archive: bytes) -> dict[str, bytes]:
    """The files of a tar archive."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}  # type: ignore[union-attr]


def test_settings_of_this_machine_go_into_the_image(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, small = tmp_path / "bundle.pem", tmp_path / "small"
    bundle.write_bytes(b"certificate")
    small.mkdir()
    (small / "a.whl").write_bytes(b"wheel")
    monkeypatch.setenv("PIP_CERT", str(bundle))
    settings = {
        "index-url": ["https://pypi.example.org/simple"],
        "extra-index-url": ["https://me:secret@example.org/simple", f"file://{tmp_path}/index/simple"],
        "find-links": [str(small), str(tmp_path / "absent")],
        "timeout": ["60"],
    }
    files = contents(script.certificates_and_settings(settings))
    assert files["etc/ssl/certs/ca-certificates.crt"] == b"certificate"
    assert files[f"{str(small).lstrip('/')}/a.whl"] == b"wheel"
    assert files["etc/pip.conf"].decode().splitlines() == [
        "[global]",
        "cert = /etc/ssl/certs/ca-certificates.crt",
        "index-url = https://pypi.example.org/simple",
        f"find-links = {small}",
        "timeout = 60",
    ]


def test_large_folders_stay_outside(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.whl").write_bytes(b"wheel")
    monkeypatch.setattr(script, "SMALL_FOLDER_BYTES", 4)
    settings = {"find-links": [str(tmp_path)]}
    assert str(tmp_path).encode() not in contents(script.certificates_and_settings(settings))["etc/pip.conf"]
    assert script.local_folders(settings) == [tmp_path]


def test_index_is_mounted_with_the_files_beside_it(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "simple").mkdir()
    assert script.local_folders({"extra-index-url": [f"file://{tmp_path}/simple"]}) == [tmp_path]


@pytest.mark.docker
def test_existing_image_is_not_made_again(base_image: str) -> None:
    done = subprocess.run([SCRIPTS / "make-base-image", "--tag", base_image], capture_output=True, text=True)
    assert done.returncode == 0
    assert "exists already" in done.stdout


def test_engine_script_is_valid_bash() -> None:
    subprocess.run(["bash", "-n", SCRIPTS / "install-engine"], check=True)

"""Wheels that tests make themselves."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path


def wheel(
    folder: Path,
    name: str = "tiny_lmr",
    version: str = "1.0",
    code: str = "VALUE = 1\n",
    module: str = "",
    requires: str = "",
    others: Mapping[str, str] | None = None,
) -> None:
    """Write a wheel with one module, of the wheel's own name unless another is given, and other files."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in {f"{module or name}.py": code, **(others or {})}.items():
            archive.writestr(path, text)
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/entry_points.txt", f"[console_scripts]\ntiny = {name}:main\n")
        archive.writestr(f"{info}/RECORD", "")

"""Recognising licences by their own sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core.repo.tree import recognise_licence, recognise_licence_text

MIT = """MIT License  Copyright (c) 2023 X

Permission is hereby granted, free of charge, to any person obtaining
a copy of this software … THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY"""
BSD = "Redistribution and use in source and binary\nforms … THIS SOFTWARE IS PROVIDED BY X"
GPL3 = (
    "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n"
    + "text " * 500
    + "GNU Affero General Public License"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MIT, "MIT"),
        (BSD, "BSD-2-Clause"),
        (BSD + " Neither the name of X", "BSD-3-Clause"),
        (GPL3, "GPL-3.0"),
        ("GNU AFFERO GENERAL PUBLIC LICENSE Version 3, 19 November 2007", "AGPL-3.0"),
        ("GNU LESSER GENERAL PUBLIC LICENSE Version 2.1, February 1999", "LGPL-2.1"),
        ("Attribution-NonCommercial-ShareAlike 4.0 International", "CC-BY-NC-SA-4.0"),
        ("All rights reserved.", ""),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert recognise_licence_text(text) == expected


def test_files(tmp_path: Path) -> None:
    assert recognise_licence(tmp_path) == ("", "")
    (tmp_path / "LICENSE.md").write_text("Ask us first.")
    assert recognise_licence(tmp_path) == ("", "LICENSE.md")
    (tmp_path / "copying").write_text(MIT)
    assert recognise_licence(tmp_path) == ("MIT", "copying")
    (tmp_path / "license_utils.py").write_text(GPL3)
    assert recognise_licence(tmp_path) == ("MIT", "copying")

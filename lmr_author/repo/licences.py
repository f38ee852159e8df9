"""Recognise a repository's licence by sentences that only its text has. A guess for a person to confirm."""

from __future__ import annotations

import re
from pathlib import Path

MAX_BYTES = 256 * 1024

_FILE = re.compile(r"^(un)?(licen[cs]e|copying)([.-].*)?$", re.I)

SENTENCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("AGPL-3.0", ("gnu affero general public license", "version 3")),
    ("LGPL-2.1", ("gnu lesser general public license", "version 2.1")),
    ("LGPL-3.0", ("gnu lesser general public license", "version 3")),
    ("GPL-2.0", ("gnu general public license", "version 2, june 1991")),
    ("GPL-3.0", ("gnu general public license", "version 3, 29 june 2007")),
    ("MPL-2.0", ("mozilla public license version 2.0",)),
    ("Apache-2.0", ("apache license", "version 2.0", "terms and conditions for use, reproduction")),
    ("Apache-2.0", ("licensed under the apache license, version 2.0",)),
    ("CC-BY-NC-SA-4.0", ("attribution-noncommercial-sharealike 4.0 international",)),
    ("CC-BY-NC-ND-4.0", ("attribution-noncommercial-noderivatives 4.0 international",)),
    ("CC-BY-NC-4.0", ("attribution-noncommercial 4.0 international",)),
    ("CC-BY-SA-4.0", ("attribution-sharealike 4.0 international",)),
    ("CC-BY-ND-4.0", ("attribution-noderivatives 4.0 international",)),
    ("CC-BY-4.0", ("attribution 4.0 international",)),
    ("CC0-1.0", ("cc0 1.0 universal",)),
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    ("BSL-1.0", ("boost software license - version 1.0",)),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software for any purpose",)),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "neither the name")),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms", "this software is provided by")),
    ("MIT", ("permission is hereby granted, free of charge, to any person obtaining a copy",
             "the software is provided \"as is\"")),
)  # fmt: skip
"""SPDX identifier → what its text must contain (lower case, single spaces); the first that fits holds."""


def recognise(root: Path) -> tuple[str, str]:
    """SPDX identifier and file name of the licence at a repository's top, ("", file) when not recognised."""
    named = sorted(path for path in root.iterdir() if _FILE.match(path.name) and path.is_file())
    for path in named:
        spdx = recognise_text(path.read_bytes()[:MAX_BYTES].decode("utf-8", "replace"))
        if spdx:
            return spdx, path.name
    return "", named[0].name if named else ""


def recognise_text(text: str) -> str:
    """SPDX identifier of a licence's text, or "".

    The GPL family's texts name one another, so only the beginning decides among them.
    """
    whole = re.sub(r"\s+", " ", text.lower().replace("“", '"').replace("”", '"'))
    for spdx, sentences in SENTENCES:
        place = whole[:600] if "GPL" in spdx else whole
        if all(sentence in place for sentence in sentences):
            return spdx
    return ""

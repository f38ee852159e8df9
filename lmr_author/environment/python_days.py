"""When each Python came out, and from which day on there are packages for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

RELEASED = {
    "3.7": "2018-06-27",
    "3.8": "2019-10-14",
    "3.9": "2020-10-05",
    "3.10": "2021-10-04",
    "3.11": "2022-10-24",
    "3.12": "2023-10-02",
    "3.13": "2024-10-07",
    "3.14": "2025-10-07",
}
"""When each Python came out (devguide.python.org/versions)."""

FOLLOWED = timedelta(days=180)
"""After so long the packages that have to be compiled have wheels for a new Python (sentencepiece took 170 days)."""

BUILDS = datetime(2019, 2, 6, tzinfo=UTC)
"""The day after setuptools 40.8: uv and pip build no ``setup.py`` with an earlier one."""


def followed(python: str) -> datetime:
    """The day from which there are packages for a Python of :data:`RELEASED`."""
    return datetime.fromisoformat(RELEASED[python]).replace(tzinfo=UTC) + FOLLOWED


def builds_from(python: str) -> datetime:
    """The day from which there are tools that build a source with a Python."""
    return max(BUILDS, followed(python)) if python in RELEASED else BUILDS

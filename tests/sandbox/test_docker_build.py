"""A Dockerfile as it is sent to the engine, and the log that comes back."""

from __future__ import annotations

import pytest

from lmr_author.sandbox.docker_build import BuildProgress, Step, name_base, with_base, with_labels

LABEL = "LABEL org.lmr-author=1"
TEXT = """\
# syntax=x
ARG BASE=a
FROM ${BASE} \\
  AS one
RUN a && \\
    # a comment inside

    b
run echo "\\
FROM here to"
FROM two
COPY x y
"""


def test_a_label_follows_each_from() -> None:
    lines = with_labels(TEXT).splitlines()
    assert [number for number, line in enumerate(lines, 1) if line == LABEL] == [5, 13]
    assert [line for line in lines if line != LABEL] == TEXT.splitlines()
    assert with_labels("FROM a") == f"FROM a\n{LABEL}"


def test_a_log_is_followed() -> None:
    progress = BuildProgress(TEXT)
    log = (
        "Step 1/8 : ARG BASE=a", "Step 2/8 : FROM ${BASE}   AS one", f"Step 3/8 : {LABEL}",
        "Step 4/8 : RUN a &&     b", "said", "Step 5/8 : RUN echo \"FROM here to\"", " ---> 0123456789ab",
        "Step 6/8 : FROM two", f"Step 7/8 : {LABEL}", "Step 8/8 : COPY x y", "said", "",
    )  # fmt: skip
    seen = [(progress.add(line), progress.line) for line in log]
    assert [line for _, line in seen] == [2, 3, 3, 5, 5, 9, 9, 11, 11, 12, 12, 12]
    assert [named for named, _ in seen].index(True) == 6
    assert (progress.step, progress.layer) == (Step(8, 8, "COPY x y"), "0123456789ab")
    assert progress.output == ["said"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM pytorch/pytorch:2.1.0\nRUN x\n", "FROM mine:1\nRUN x\n"),
        (
            "# FROM a\nfrom --platform=linux/amd64 a:1 AS b\n",
            "# FROM a\nfrom --platform=linux/amd64 mine:1 AS b\n",
        ),
        ("ARG BASE_IMAGE=a\nFROM ${BASE_IMAGE}\n", "ARG BASE_IMAGE=a\nFROM ${BASE_IMAGE}\n"),
        ("FROM a AS b\nFROM c\nCOPY --from=b x y\n", "FROM a AS b\nFROM c\nCOPY --from=b x y\n"),
    ],
)
def test_a_base_image_that_is_named_outright_is_replaced(text: str, expected: str) -> None:
    assert with_base(text, "mine:1") == expected


@pytest.mark.parametrize(
    ("step", "args", "named"),
    [
        ("FROM ${BASE_IMAGE}", {"BASE_IMAGE": "mine:1"}, "FROM mine:1"),
        ("FROM ${BASE_IMAGE:-debian}", {}, "FROM python:3.11"),
        ("FROM $BASE_IMAGES", {}, "FROM $BASE_IMAGES"),
    ],
)
def test_the_base_image_is_named(step: str, args: dict[str, str], named: str) -> None:
    assert name_base(step, "# a\nARG BASE_IMAGE=python:3.11\nFROM ${BASE_IMAGE}\n", args) == named

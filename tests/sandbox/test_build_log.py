"""A Dockerfile with our label in it, and where its lines were before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.sandbox.build_log import BuildLog, Step, labelled, named_base, rebased

TEXT = """\
# syntax=x
ARG BASE=a
FROM ${BASE} \\
  AS one
RUN a && \\
    # a comment inside
    b
FROM two
COPY x y
"""


def test_a_label_follows_each_from() -> None:
    made = labelled(TEXT, "k=1")
    lines = made.text.splitlines()
    assert lines[4] == "LABEL k=1" and lines[9] == "LABEL k=1"
    assert [line for line in lines if line != "LABEL k=1"] == TEXT.splitlines()


def test_steps_and_messages_name_the_lines_of_the_file() -> None:
    made = labelled(TEXT, "k=1")
    # ARG, FROM, (label), RUN, FROM, (label), COPY
    assert [made.line_of(Step(number, 7, "")) for number in range(1, 8)] == [2, 3, 3, 5, 8, 8, 9]
    assert made.line_of(Step(9, 9, "")) == 0 and made.line_of(None) == 0
    assert made.in_the_file("parse error line 11: unknown") == "parse error line 9: unknown"


def test_another_escape_character() -> None:
    made = labelled("# escape=`\nFROM a `\n AS b\nRUN c:\\\nRUN d\n", "k=1")
    assert made.text.splitlines()[3] == "LABEL k=1"
    assert made.line_of(Step(4, 4, "")) == 5


@given(
    st.lists(st.sampled_from(["FROM a", "RUN b \\", "  c", "# d", "", "FROM e \\", "COPY f g", "\tx # y"]))
)
def test_nothing_of_the_file_is_lost(lines: list[str]) -> None:
    made = labelled("\n".join(lines) + "\n", "k=1")
    assert [line for line in made.text.split("\n") if line != "LABEL k=1"] == [
        *"\n".join(lines).split("\n"),
        "",
    ]
    assert len(made.lines) == made.text.count("\n")


def test_a_log_is_followed() -> None:
    seen = BuildLog()
    told = [
        seen.see(line) for line in ("Step 1/2 : FROM a", " ---> 0123456789ab", "Step 2/2 : RUN b", "said", "")
    ]
    assert told == [False, True, False, False, False]
    assert (seen.step, seen.layer, seen.said) == (Step(2, 2, "RUN b"), "0123456789ab", ["said"])


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
        ("RUN x\n", "RUN x\n"),
    ],
)
def test_a_base_image_that_is_named_outright_is_replaced(text: str, expected: str) -> None:
    assert rebased(text, "mine:1") == expected


@pytest.mark.parametrize(
    ("step", "args", "named"),
    [
        ("FROM ${BASE_IMAGE}", {"BASE_IMAGE": "mine:1"}, "FROM mine:1"),
        ("FROM $BASE_IMAGE AS built", {}, "FROM python:3.11 AS built"),
        ("FROM ${BASE_IMAGE:-debian}", {}, "FROM python:3.11"),
        ("FROM $BASE_IMAGES", {}, "FROM $BASE_IMAGES"),
        ("RUN echo $BASE_IMAGE", {}, "RUN echo $BASE_IMAGE"),
    ],
)
def test_the_base_that_is_meant(step: str, args: dict[str, str], named: str) -> None:
    assert named_base(step, "# a\nARG BASE_IMAGE=python:3.11\nFROM ${BASE_IMAGE}\n", args) == named


def test_a_base_that_nothing_names_is_as_written() -> None:
    assert (
        named_base("FROM ${BASE_IMAGE}", "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\n", {}) == "FROM ${BASE_IMAGE}"
    )

"""What the first paragraph of a docstring says of a function's purpose, for a drafted instruction."""

from __future__ import annotations

import inspect

import pytest

from lmr_author.authoring.masking.instruction import stated_purpose


def said(text: str) -> str:
    return stated_purpose(inspect.cleandoc(text).split("\n\n")[0])


@pytest.mark.parametrize(
    "text",
    [
        "TODO: describe.",
        "_summary_",
        "Forward pass.",
        "Defines the computation performed at every call.",
        "See base class.",
        "-----",
        "Copyright 2020 The Some Team. All rights reserved.",
        'Licensed under the Apache License, Version 2.0 (the "License");\nyou may not use this file',
        "https://example.org/paper",
        ">>> weigh_pairs(2)",
        "Args:\n    annotators: None or empty.",
        "Returns:\n    Two numbers.",
        "labels (torch.LongTensor of shape (batch_size,), optional):\n    Labels for the loss.",
        "- `x` (Tensor): the scores.",
        ":param x: a number",
    ],
)
def test_what_says_nothing_is_no_purpose(text: str) -> None:
    assert said(text) == ""


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Average the gaps.", "Average the gaps."),
        ("Implements the CDF of the stretched distribution", "Implements the CDF of the stretched distribution"),
        ("Forward pass of the gated encoder.", "Forward pass of the gated encoder."),
        ("Average the gaps.\nlabels (list): of the pairs\nSee the base class", "Average the gaps."),
        ("Average the gaps. TODO: speed it up.", "Average the gaps."),
        ("Average the gaps. Copied from somewhere.", "Average the gaps."),
        ("Average the gaps, e.g. of A. Smith.\n-----------\n", "Average the gaps, e.g. of A. Smith."),
        ("Weighting as in eq. 3: closer answers count more.", "Weighting as in eq. 3: closer answers count more."),
        ("\u8ba1\u7b97\u635f\u5931", "\u8ba1\u7b97\u635f\u5931"),
    ],
)  # fmt: skip
def test_what_says_something_is_kept_up_to_what_does_not(text: str, kept: str) -> None:
    assert said(text) == kept


@pytest.mark.timeout(20)
def test_a_long_line_is_read_at_once() -> None:
    """No pattern goes over a text again and again."""
    assert stated_purpose("x (" * 20_000)
    assert stated_purpose("x ((((((((((" * 2_000 + ":")
    assert stated_purpose("average gaps " * 5_000).startswith("average gaps")

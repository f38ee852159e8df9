"""Of what docstrings begin with, what is the purpose of a function, and what is none."""

from __future__ import annotations

import pytest

from lmr_author.masking.draft import purpose, read_docstring

OWN = ("weigh_pairs", "PairWeigher")
TAKES = ("pairs", "labels", "x")


def said(text: str) -> str:
    return read_docstring(text, OWN, TAKES).summary


@pytest.mark.parametrize(
    "text",
    [
        "TODO",
        "TODO: describe.",
        "FIXME this is slow",
        "_summary_",
        "Docstring.",
        "Forward pass.",
        "The forward function of the model",
        "Defines the computation performed at every call.",
        "Call the module",
        "Main entry point.",
        "See base class.",
        "Inherited from the base class.",
        "Overrides the method of Trainer.",
        "Same as weigh_all.",
        "From somelibrary",
        "Weigh pairs.",
        "Weighs the pairs of a PairWeigher.",
        "Initialize.",
        "Projection",
        "-----",
        "Copyright 2020 The Some Team. All rights reserved.",
        "(c) 2020 Some Body",
        'Licensed under the Apache License, Version 2.0 (the "License");\nyou may not use this file',
        "Author: Some Body",
        "Created on Mon Jan 1",
        "https://example.org/paper",
        "@author: somebody",
        ">>> weigh_pairs(2)",
        "Args:\n    annotators: None or empty.",
        "Args: x: a number",
        "Returns:\n    Two numbers.",
        "Examples::\n\n    weigh_pairs(2)",
        "labels (torch.LongTensor of shape (batch_size,), optional):\n    Labels for the loss.",
        "labels (``torch.LongTensor`` of shape ``(batch_size,)``, `optional`): Labels for the loss.",
        "Pairs: (5N, dim) matrix of pairs\nLabels: (5N,) classes",
        "x - a number",
        "start_position: where it starts",
        ":param x: a number",
        "x : ndarray\n    A number.",
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
        ("Weigh pairs by their distance.", "Weigh pairs by their distance."),
        ("Same as weigh_all but for single answers.", "Same as weigh_all but for single answers."),
        ("Average the gaps.\nlabels: of the pairs\nSee the base class", "Average the gaps."),
        ("Average the gaps.\nArgs:\n    x: a number", "Average the gaps."),
        ("Average the gaps. TODO: speed it up.", "Average the gaps."),
        ("Average the gaps. Copied from somewhere.", "Average the gaps."),
        ("Average the gaps, e.g. of A. Smith.\n-----------\n", "Average the gaps, e.g. of A. Smith."),
        ("Note that it averages: the gaps are weighed.", "Note that it averages: the gaps are weighed."),
        ("Weighting as in eq. 3: closer answers count more.", "Weighting as in eq. 3: closer answers count more."),
        ("\u8ba1\u7b97\u635f\u5931", "\u8ba1\u7b97\u635f\u5931"),
    ],
)  # fmt: skip
def test_what_says_something_is_kept_up_to_what_does_not(text: str, kept: str) -> None:
    assert said(text) == kept


@pytest.mark.timeout(20)
def test_a_long_line_is_read_at_once() -> None:
    """No pattern goes over a text again and again."""
    assert purpose("x (" * 20_000) == ""
    assert purpose("((((((((((" * 2_000 + ":") == ""
    assert purpose("average gaps " * 5_000).startswith("average gaps")

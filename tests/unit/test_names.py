"""Names in code: what imports bind and mean, and where expressions begin."""

from __future__ import annotations

import ast

import pytest

from lmr_author.code import bound_by, imported_as, root_name


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("import torch.nn.functional", ["torch"]),
        ("import torch.nn.functional as F, math", ["F", "math"]),
        ("from . import utils as u, models", ["u", "models"]),
        ("from torch import *", ["*"]),
    ],
)
def test_what_an_import_binds(statement: str, names: list[str]) -> None:
    (node,) = ast.parse(statement).body
    assert isinstance(node, ast.Import | ast.ImportFrom)
    assert bound_by(node) == names


def test_what_imported_names_stand_for() -> None:
    code = """import os, gensim.downloader as api
def f():
    from nltk import download as get
from .a import b"""
    assert imported_as(ast.parse(code)) == {"api": "gensim.downloader", "get": "nltk.download"}


@pytest.mark.parametrize(
    ("text", "name"), [("a", "a"), ("a.b[0].c", "a"), ("f().b", ""), ("a.b().c", ""), ("(1).real", "")]
)
def test_where_an_expression_begins(text: str, name: str) -> None:
    assert root_name(ast.parse(text, mode="eval").body) == name

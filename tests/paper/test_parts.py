"""The parts of a paper that a text names, and those that the paper does not have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.core.paper.parts import cited_works, missing_parts, missing_works, named_parts

TASKS = Path(__file__).parents[2] / "tasks"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Eq. (5), Equations 1-3", "equation (5), equation (1), equation (2), equation (3)"),
        ("equation (1), 50 steps", "equation (1)"),
        ("Alg. 2 and Fig. 3a and 3b", "algorithm 2, figure 3"),
        ("Table II of section IV", "section 4, table 2"),
        ("§3.2, §4 and Section A.1", "section 3.2, section 4, appendix A.1"),
        ("Appendix B and C2", "appendix B, appendix C.2"),
        ("Implement equation (2) in `loss.py`", "equation (2)"),
        ("the paper's section 3", "section 3"),
        ("section 2 of the DPO paper", "section 2"),
        ("section 3.2 of Correia et al. (2019)", ""),
        ("the gradient (Correia et al., 2019, section 3.2)", ""),
        ("ASAM's equation (3) and section 9.9 of `README.md`", ""),
        ("section 3.13 of the Unicode Standard", ""),
        ("the section on losses; a figure of speech; table lookup", ""),
    ],
)
def test_parts_are_named_in_many_ways(text: str, parts: str) -> None:
    assert ", ".join(map(str, named_parts(text))) == parts


@pytest.mark.parametrize("info", sorted(TASKS.glob("*/info.json")), ids=lambda path: path.parent.name)
def test_finished_tasks_name_parts_that_are_there(info: Path) -> None:
    task = json.loads(info.read_text("utf-8"))
    paper = json.loads((info.parent / task["repo_folder_name"] / "paper.json").read_text("utf-8"))
    pages = {int(number): text for number, text in paper.items()}
    for implementation in task["implementations"]:
        assert named_parts(implementation["instruction"])
        assert missing_parts(implementation["instruction"], pages) == ()
    false = missing_parts("Algorithm 7 of section 9.9, equation (31), Table 12", pages)
    assert {"section 9.9", "equation (31)", "table 12"} <= set(map(str, false))


def test_what_a_paper_does_not_number_is_not_missing() -> None:
    pages = {1: "Abstract\nWe rank.\nOur method\nThe loss compares scores."}
    assert missing_parts("section 3, equation (2), algorithm 1, Table 4, Appendix B", pages) == ()
    pages = {1: "1 Introduction\n2 Method\nx = y (1)\nsomething\nz = x (3)\n"}
    assert missing_parts("equation (2) of section 2", pages) == (), "an extraction may lose one"
    assert list(map(str, missing_parts("equation (4) of section 3", pages))) == ["section 3", "equation (4)"]


def test_roman_numbers_are_numbers() -> None:
    pages = {1: "I. INTRODUCTION\nII. RELATED WORK\nIII. METHOD\nTABLE I\nscores"}
    assert missing_parts("section 3 and Table 1; Section II", pages) == ()
    assert list(map(str, missing_parts("Section IV, Table II", pages))) == ["section 4", "table 2"]


@pytest.mark.parametrize(
    ("text", "works"),
    [
        ("as in Kim et al. (2019) and Kim, et al. 2020", "Kim (2019), Kim (2020)"),
        ("the gradient (Kim et al., 2019, section 3.2)", "Kim (2019)"),
        ("(Kingma, 2014; Ba, 2015)", "Kingma (2014), Ba (2015)"),
        ("van der Maaten and Hinton (2008b)", "Maaten (2008)"),
        ("Müller-Schmidt & O’Neil, 2021", "Müller-Schmidt (2021)"),
        ("in June, 2019 the CoNLL (2003) data of Paris, 2019 were split", ""),
        ("Python and Numpy 2000 times, `Foo (2019)`, Loshchilov and Hutter [3], 2000 steps", ""),
    ],
)
def test_works_are_cited_in_many_ways(text: str, works: str) -> None:
    assert ", ".join(map(str, cited_works(text))) == works


def test_a_name_without_the_year_near_it_is_another_work() -> None:
    pages = {
        1: "Title\nJane Doe",
        2: "",
        3: "We follow Kim.\n" + "x " * 500 + "2019",
        4: "Y. Kim. Convolu-\ntions. 2014.",
    }
    text = "Kim (2014), Kim (2015), Kim (2019), Doe (2022) and Ki et al. (2014)"
    assert list(map(str, missing_works(text, pages, 2023))) == ["Kim (2019)", "Ki (2014)"]
    assert missing_works(text, {}, 2023) == []

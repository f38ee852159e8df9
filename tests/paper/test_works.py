"""The works that a text cites, and those that the paper does not have."""

from __future__ import annotations

import pytest

from lmr_author.core.paper.works import cited_works, missing_works


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

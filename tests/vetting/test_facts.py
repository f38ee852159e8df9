"""Facts about a paper: read from BibTeX, CITATION.cff and links, and put together with the PDF's."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.authoring.vetting.facts import best, conflicts, gather_facts
from lmr_author.core.paper import Paper
from lmr_author.core.repo.citations import (
    Citation,
    every_citation,
    plain_latex,
    read_bibtex,
    read_cff,
    read_citations,
)

PAGE = "Wins over Ties: a Study\nof Pairs\nJane Doe\nAbstract. We count."


def paper(
    title: str = "Wins over Ties: a Study of Pairs", year: int | None = None, origin: str = ""
) -> Paper:
    return Paper((PAGE,), title, year, origin, "", "", ())


def test_an_entry_of_bibtex_is_read_with_accents_and_names_in_order() -> None:
    (entry,) = read_bibtex(
        r"""text before @InProceedings{a:1,
          Title = "A {BERT} of \textit{all} trades \& more",
          author={M{\"u}ller, Jos\'{e} and Gon\c{c}alo Dias and {\O}ystein Li},
          year = 2019, journal = {arXiv preprint arXiv:1901.12345}, month = jul }""",
        "README.md",
    )
    assert entry.title == "A BERT of all trades & more"
    assert entry.authors == ("José Müller", "Gonçalo Dias", "Øystein Li")
    assert (entry.year, entry.venue, entry.url) == (2019, "", "https://arxiv.org/abs/1901.12345")


@pytest.mark.parametrize(
    "text",
    [
        "@misc{a, title = {never closed, year = 2019",
        "@misc{a, title = {" + "{" * 10_000,
        '@misc{a, title = "never closed',
        "@" * 10_000 + "misc{",
        "@misc{a,\n" * 100_000,
        "@comment{x, title = {no}}",
    ],
)
def test_what_is_no_entry_gives_nothing_at_once(text: str) -> None:
    assert not any(entry.title for entry in read_bibtex(text, "x.bib"))


def test_the_preferred_citation_of_a_cff_comes_first_and_the_program_is_no_paper() -> None:
    found = read_cff(
        """
cff-version: 1.2.0
title: Wins-lib
authors: [{family-names: Li, given-names: Kim}]
preferred-citation:
  type: conference-paper
  title: Wins over Ties
  authors: [{family-names: Doe, given-names: Jane}, {name: The Group}]
  year: 2022
  conference: {name: ACL}
  doi: 10.18653/v1/2022.acl-long.1
""",
        "CITATION.cff",
    )
    assert [one.software for one in found] == [False, True]
    assert found[0] == Citation(
        "CITATION.cff", "Wins over Ties", ("Jane Doe", "The Group"), 2022, "ACL",
        "https://doi.org/10.18653/v1/2022.acl-long.1",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["[", "- 1", "a: &a [*a]", "authors: 3\nyear: [1]\ntitle: {a: b}", "!!python/object:os.x {}"]
)
def test_a_damaged_cff_gives_nothing(text: str) -> None:
    assert not any(one.title or one.authors or one.year for one in read_cff(text, "CITATION.cff"))


def test_a_link_out_of_the_repository_and_a_huge_file_are_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "secret.bib"
    outside.write_text("@misc{a, title = {A secret}}")
    inside = tmp_path / "code"
    inside.mkdir()
    (inside / "refs.bib").symlink_to(outside)
    (inside / "README.md").write_text("@misc{a, title = {Large}}" + " " * 2**20)
    assert read_citations(inside) == []


def test_a_docstring_cites_the_paper_and_its_venue_or_number_has_the_year(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    entries = (
        '@inproceedings{a, title = "A Layer of Steps", author={Doe, Jane}, booktitle={NeurIPS 2021}}\n'
        "    @misc{b, title={Of Other Steps}, eprint={1905.01234}, archivePrefix={arXiv}}\n"
    )
    text = f'def layer(x):\n    """Apply the layer.\n\n    {entries}    """\n    return x\n'
    (tmp_path / "model" / "layer.py").write_text(text)
    first, second = every_citation(tmp_path)
    assert (first.title, first.year, first.venue) == ("A Layer of Steps", 2021, "NeurIPS 2021")
    assert first.source.startswith("model/layer.py")
    assert (second.year, second.url) == (2019, "https://arxiv.org/abs/1905.01234")
    assert read_citations(tmp_path) == [], "what checks every task reads no code"


def test_of_several_citations_only_the_paper_s_own_counts() -> None:
    own = Citation("README.md, line 9", "Wins over ties: A study of pairs", ("Jane Doe",), 2019, "ACL")
    other = Citation("README.md, line 2", "Another paper about wins", ("Kim Li",), 2012, "EMNLP")
    facts = gather_facts(paper(year=2018, origin="the arXiv id"), None, [other, own])
    assert (best(facts, "authors"), best(facts, "year"), best(facts, "venue")) == ("Jane Doe", "2019", "ACL")
    (year,) = conflicts(facts, "year", "2019")
    assert str(year) == "2018 (the arXiv id)"
    assert conflicts(facts, "title", "Wins over Ties: a Study of Pairs") == ()  # only its case differs


def test_citations_of_other_papers_state_nothing() -> None:
    other = Citation("README.md, line 9", "Something else altogether", ("Jane Doe",), 2019, "ACL")
    facts = gather_facts(paper(title="Wins"), None, [other, Citation("README.md", "A lib", software=True)])
    assert (best(facts, "title"), best(facts, "venue"), best(facts, "authors")) == ("Wins", "", "")


def test_a_link_of_nearly_the_same_title_gives_the_address_and_nothing_else(tmp_path: Path) -> None:
    title = "Wins over Tie: A Study of Pairs"
    (tmp_path / "README.md").write_text(
        "# Wins\n\n[Another paper about wins](https://arxiv.org/abs/1202.00001), our own library\n"
        f"[{title} in code](https://example.com/x) and [**{title}**](https://arxiv.org/abs/1901.12345)\n"
    )
    citations = read_citations(tmp_path)
    facts = gather_facts(paper(), None, citations)
    (url,) = facts["url"]
    assert (url.value, url.sources) == ("https://arxiv.org/abs/1901.12345", ("README.md, line 4",))
    assert best(facts, "title") == "Wins over Ties: a Study of Pairs" and len(facts["title"]) == 1


def test_the_text_of_a_link_is_no_title(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Read [our paper on arXiv](https://arxiv.org/abs/1901.12345).\n")
    own = Paper((PAGE,), "Wins over Ties: a Study of Pairs", None, "", "1901.12345", "", ())
    facts = gather_facts(own, None, read_citations(tmp_path))
    assert [fact.value for fact in facts["title"]] == ["Wins over Ties: a Study of Pairs"]
    assert [fact.sources for fact in facts["url"]] == [("page 1",)]


def test_initials_have_the_dots_of_page_one() -> None:
    read = Paper((f"{PAGE}\nEdward J. Hu, K. Li",), "Wins over Ties: a Study of Pairs", 2021, "", "", "", ())
    own = Citation("README.md", "Wins over Ties: a Study of Pairs", ("Edward J Hu", "K Li", "Malcolm X"))
    assert best(gather_facts(read, None, [own]), "authors") == "Edward J. Hu; K. Li; Malcolm X"


def test_the_date_of_a_file_is_worth_less_than_a_citation() -> None:
    own = Citation("README.md, line 9", "Wins over Ties: a Study of Pairs", (), 2019)
    facts = gather_facts(paper(year=2021, origin="the PDF's creation date"), None, [own])
    assert best(facts, "year") == "2019"


def test_latex_becomes_text() -> None:
    assert (
        plain_latex(r"{\'E}cole -- \v{S}koda \o{}re na\"{\i}ve $x^2$~\url{x}")
        == "École – Škoda øre naïve x^2 x"
    )

"""The works that a text cites by author and year, and those that a paper does not have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

NEAR = 400
"""Characters of an entry of a bibliography, from the first author to the year."""
YEARS_APART = 1
"""A preprint and its publication: one may be cited in the instruction, the other in the paper."""
_OWN_YEARS = 2

_NAME = r"[A-Z][\w'’]*[a-zà-ÿ](?:-[A-Z][\w'’]*[a-zà-ÿ])?"
_CITED = re.compile(
    rf"(?<![\w.`/])(?P<name>{_NAME})(?P<others>,? et al\.?|(?:,? (?:and|&) {_NAME}))?"
    r"(?P<mark>,? \(|,? )(?P<year>(?:19|20)\d\d)[a-z]?(?!\w)"
)
_FOLLOWED = re.compile(r"\)|;|, (?:section|§|eq|alg|table|fig|app)", re.I)
"""What stands behind "Kim, 2019" where it is a citation, and not a place and a date."""


class Work(NamedTuple):
    """A work by the family name of an author and its year."""

    author: str
    year: int

    def __str__(self) -> str:
        return f"{self.author} ({self.year})"


def cited_works(text: str) -> Iterator[Work]:
    """Yield the works that a text cites: "Kim et al. (2019)", "Kim and Lee, 2019", "(Kim, 2019, section 3)"."""
    for match in _CITED.finditer(text):
        others, mark = match["others"] or "", match["mark"]
        in_list = mark == ", " and _FOLLOWED.match(text, match.end())
        if "et al" in others or (others and mark != " ") or mark.endswith("(") or in_list:
            yield Work(match["name"], int(match["year"]))


def missing_works(text: str, pages: Mapping[int, str], year: int) -> list[Work]:
    """Return the works that a text cites and a paper does not, by an author's name with the year near it.

    Args:
        year: of the paper itself, which the text may cite: its authors are on the first page.
    """
    works = list(dict.fromkeys(cited_works(text)))
    if not works or not pages:
        return []
    whole = [_plain(pages[number]) for number in sorted(pages)]
    everything = "\n".join(whole)
    missing = []
    for work in works:
        name = re.compile(rf"(?<!\w){re.escape(_plain(work.author))}(?!\w)")
        is_own = abs(work.year - year) <= _OWN_YEARS and name.search(whole[0])
        if not is_own and not any(
            _has_year(everything, match.end(), work.year) for match in name.finditer(everything)
        ):
            missing.append(work)
    return missing


def _has_year(text: str, at: int, year: int) -> bool:
    years = re.findall(r"(?:19|20)\d\d", text[at : at + NEAR])
    return any(abs(int(other) - year) <= YEARS_APART for other in years)


def _plain(text: str) -> str:
    """Return a text without accents, in lower case, with words that a line's end divided joined."""
    text = re.sub(r"(?<=\w)[-\u2010\xad]\n(?=[a-z])", "", unicodedata.normalize("NFKD", text))
    return "".join(char for char in text if not unicodedata.combining(char)).lower()

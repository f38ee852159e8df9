"""The paper's grades, and how models and people spell them.

CC is completely correct, LC logically correct, LI logically incorrect (appendix C, whose numbers are 3, 2 and 1).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from lmr_author.core.parsing import NotParsed, json_data

GRADES = CC, LC, LI = ("CC", "LC", "LI")
UNPARSABLE = "unparsable"
"""In place of the grade of a judge whose reply has none."""
MOST = 50_000
"""Characters of a reply that are read, from its end."""

_NAMES = {
    CC: r"CC|(?:completely|fully|entirely)[ -]correct",
    LC: r"LC|logic(?:ally|al)?[ -]correct(?:,?\s*but\b.*)?",
    LI: r"LI|logic(?:ally|al)?[ -]incorrect",
}
_NUMBERS = {CC: "3", LC: "2", LI: "1"}
_CATEGORIES = ("category", "classification")
"""Words after which a number is one of the paper's; other numbers may be on any scale."""
_KEY = (
    r"(?P<key>grade|category|classification|verdict|rating|assessment|evaluation|judge?ment|result|label|conclusion"
    r"|final answer|overall)"
)
_OPEN = r"""(?:[\s"'`*_<\[({$:]|\\boxed\b|\btext\b|\bcategory\b)*"""
_CLOSE = r"""[\s"'`*_>\])}$]*"""
_OR = r"(?:[,/|;]|\bor\b|\band\b|\bto\b|[-–—])+"
_BEFORE = r"(?:(?:final|overall|my|the|this|so|thus|hence|therefore|in conclusion|assigned)[\s,]+)*"
_BARE = r"(?=\s+(?:CC|LC|LI|[123])\s*(?:$|[:(]))"
_IS = rf"(?:\s+(?:assigned|given|number))?(?:\s*\([^)\n]*\))?{_CLOSE}(?:[:=|>–—-]|\bis\b:?|{_BARE}|\s*$)"
_SAYS = rf"{_BEFORE}{_KEY}\b{_IS}(?P<value>.*)$"
_FLAGS = re.IGNORECASE | re.MULTILINE
_LINE = re.compile(rf"^(?:\{{[^{{}}]*,)?[\s*_`\"'{{<|(-]*+{_SAYS}", _FLAGS)
_HEADING = re.compile(rf"^[#>][#>\s*_`\"'-]*+{_SAYS}", _FLAGS)
_CLASSED = re.compile(
    r"^(?P<before>.*)\b(?:(?:classif|grad|rat|categori[sz])(?:y|ied|e|ed)\b.{0,60}?\bas"
    r"|(?:falls|belongs)\s+(?:in|under|to|into)|(?:give|assign)\b.{0,40}?\bgrade(?:\s+of)?)\b"
    r"(?:\s+(?:the|a))?(?P<value>.*)$",
    _FLAGS,
)
_DOUBT = re.compile(
    r"\b(?:not|cannot|never|if|unless|could|might|may|neither|hardly)\b|n't\b|would be\b", re.IGNORECASE
)
_CONDITION = re.compile(r"\b(?:if|unless|only)\b", re.IGNORECASE)
_IT_IS = re.compile(r"^(?:the|this)\s+(?:implementation|answer|code|function)\s+is\b", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(?P<inside>.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)


def grade_of(value: object, *, numbered: bool = False, alone: bool = False) -> str:
    """Return the grade that a value begins with; "" for none, and for a choice between several.

    Args:
        numbered: the numbers of the paper's categories are grades, too.
        alone: nothing follows but the same grade in other words.
    """
    text = unicodedata.normalize("NFKC", str(value))
    names = {grade: f"{name}|{_NUMBERS[grade]}" if numbered else name for grade, name in _NAMES.items()}
    one = "|".join(f"(?P<{grade}>{name})" for grade, name in names.items())
    found = re.match(rf"{_OPEN}(?:{one})\b{_CLOSE}(?P<rest>.*)", text, re.IGNORECASE | re.DOTALL)
    if found is None:
        return ""
    grade = next(grade for grade in GRADES if found[grade])
    other = re.match(rf"{_OR}{_OPEN}(?:or\s+)?(?:{one})\b", found["rest"], re.IGNORECASE)
    if other and not other[grade]:
        return ""
    rest = re.sub(rf"^{_OPEN}(?:{names[grade]}){_CLOSE}", "", found["rest"], flags=re.IGNORECASE)
    return "" if alone and re.search(r"\w", rest) else grade


def read_grade(reply: str) -> str:
    """Return the grade in a judge's reply; "" if it has none, or only lists the choices.

    The last grade counts. A quoted one (in a comment of the answer, say) counts only if there is no other.
    """
    text = unicodedata.normalize("NFKC", reply[-MOST:]).rpartition("</think>")[2]
    outside = _FENCE.sub("", text)
    for part in (outside, *(match["inside"] for match in reversed(list(_FENCE.finditer(text))))):
        in_object = list(filter(None, _of_object(part)))
        # Where the reply is an object, its strings may quote a grade; where it is not, it may quote an object.
        first = in_object if part.lstrip()[:1] in ("{", "[") else []
        grades = first or _of_lines(part, _LINE) or _of_lines(part, _HEADING) or in_object
        if grades := grades or _of_sentences(part) or _of_ends(part):
            return grades[-1]
    return ""


def _of_object(text: str) -> Iterator[str]:
    """Yield the grades in the JSON object that a text is or contains; "" for a member that is no grade."""
    start, end = text.find("{"), text.rfind("}") + 1
    try:
        # Models write line ends in strings, and a comma after the last member.
        left: list[Any] = [json_data(re.sub(r",\s*([}\]])", r"\1", text[start:end].replace("\n", " ")))]
    except NotParsed:
        return
    while left:
        value = left.pop(0)
        members = value.items() if isinstance(value, dict) else ()
        for key, member in members:
            if re.fullmatch(_KEY, key, re.IGNORECASE) and not isinstance(member, dict | list):
                yield grade_of(member, numbered=key.lower() in _CATEGORIES)
        left += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _of_lines(text: str, pattern: re.Pattern[str]) -> list[str]:
    """Return the grades of lines such as ``**Grade**: CC``, except three in a row that list the choices."""
    found = []
    lines = [*filter(str.strip, text.splitlines()), ""]
    for line, following in pairwise(lines):
        match, grade = pattern.match(line), ""
        if match:
            is_head, numbered = not match["value"].strip(" *_`"), match["key"].lower() in _CATEGORIES
            grade = grade_of(following if is_head else match["value"], numbered=numbered, alone=is_head)
        found.append(grade)
    for first in range(len(found) - 2):
        if set(found[first : first + 3]) == set(GRADES):
            found[first : first + 3] = ["", "", ""]
    return list(filter(None, found))


def _of_sentences(text: str) -> list[str]:
    """Return the grades of sentences such as "I classify it as logically correct"."""
    grades = []
    for match in _CLASSED.finditer(text):
        sentence = re.split(r"[.;!?]\s", match["before"])[-1]
        if not _DOUBT.search(sentence) and not _CONDITION.search(match["value"]):
            grades.append(grade_of(match["value"], numbered=True))
    return list(filter(None, grades))


def _of_ends(text: str) -> list[str]:
    """Return the grade that is the whole first or last line, unless the two differ."""
    lines = [_IT_IS.sub("", line.strip()) for line in text.splitlines() if line.strip()]
    grades = {grade_of(line, alone=True) for line in (*lines[:1], *lines[-1:])} - {""}
    return list(grades) if len(grades) == 1 else []

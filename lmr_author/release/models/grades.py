"""Read the grade in a judge's reply, as models spell it."""

from __future__ import annotations

import re

from lmr_author.release.analysis.observations import GRADES
from lmr_author.release.analysis.tables import CC, LC, LI

_NAMES = {"completely correct": CC, "logically correct": LC, "logically incorrect": LI}
_GRADE = "|".join([*GRADES.values(), *(name.replace(" ", "[ -]") for name in _NAMES)])
_ENDS = rf"[\s*_\"'`<\[(:={{]*(?P<grade>{_GRADE})\b[\s*_\"'`>\])}}.,;]*(?:[(–—-].*)?$"
_SAYS = rf"(?:(?:final|overall|my|the) )*grade\b[\s*_\"`]*(?:is\b)?{_ENDS}"
_LINE = re.compile(rf"^(?:\{{.*\")?[\s*_\"{{-]*{_SAYS}", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(rf"^[\s#>*_`\"]*{_SAYS}", re.IGNORECASE | re.MULTILINE)
_CATEGORY = re.compile(
    r"[\"']?category[\"']?\s*[:=]\s*[\"'<]*(?P<number>[123])\b(?!\s*(?:,|or)\s*\d)", re.IGNORECASE
)
"""Form of the paper: 1 for logically incorrect, 2 for logically correct, 3 for completely correct."""
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(?P<inside>.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)


def read_grade(reply: str) -> str:
    """Return CC, LC or LI; "" where a reply has no grade, or two categories.

    The last line that says it counts. A quoted one (a comment of the answer, say) counts only where no other does.
    """
    outside = _FENCE.sub("", reply)
    for text, pattern in ((outside, _LINE), (outside, _HEADING), (reply, _LINE)):
        if lines := list(pattern.finditer(text)):
            name = lines[-1]["grade"].lower().replace("-", " ")
            return _NAMES.get(name, name.upper())
    categories = {match["number"] for match in _CATEGORY.finditer(reply)}
    return {"1": LI, "2": LC, "3": CC}[categories.pop()] if len(categories) == 1 else ""

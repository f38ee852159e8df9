"""What of a docstring tells the purpose of a function: many tell none, and begin with something else."""

from __future__ import annotations

import re
from collections.abc import Collection

from lmr_author.masking.notes import one_line

_NO_PURPOSE = re.compile(
    r"""\W*(todo|fixme|xxx|hack|wip|tbd|deprecated|placeholder|@\w+|_?summary_?\b|docstring|>>>|```
    |copyright\b|licen[sc]ed?\b|all\ rights\ reserved|permission\ is\ hereby|spdx|redistribution\ and\ use|author\b
    |c\)|created\ (on|by)\b|adapted\ from|(copied|taken|borrowed)\ (and\ \w+\ )?from|https?://|see\b|inherit
    |overrid|same\ as\ \S+$|from\ \S+$
    |refer\ to|to\ be\ (documented|written|done)|not\ (yet\ )?(documented|implemented)|not\ used|unused
    |this\ (file|program|software|code)\ is\b)""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a sentence begins that says nothing of what a function is for."""

_SECTION = re.compile(
    r"\W*(args?|arguments?|params?|parameters?|(keyword|kw)\s?args?|inputs?|outputs?|returns?|return\ values?|yields?"
    r"|raises?|examples?|usage|shapes?|attributes|references?|notes?|warnings?|options?)\W*(:|$)",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"[-*•\s`]*(?P<name>\*{0,2}\w+)`?\s*(?P<type>\([^()]*(\([^()]*\)[^()]*)*\)|\[[^\]]*\])?\s*(:|--|-\s|$)"
)
"""A line about one parameter, ``labels (torch.LongTensor of shape (batch_size,)): …``."""

_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|cf|vs|etc|resp|al|Eq|Fig|Sec|Tab|approx|w\.r\.t)\.$")
_EMPTY = """
    a an the this that it its is are be of for in to from with by on as at and or all any each given some which when
    forward pass backward step run runs running call calls called calling every performed computation function method
    class module object instance main entry point init initialize initialise initialization constructor construct
    create creates helper util utils utility wrapper base parent abstract super implementation implement implements
    define defines definition definitions perform performs do does execute executes process compute computes calculate
    calculates get gets return returns result results output outputs input inputs value values data model layer self
    cls used use uses using simple new
"""
_GENERIC = frozenset(_EMPTY.split())
"""Words that say nothing by themselves."""


def purpose(paragraph: str, own_names: Collection[str] = (), parameters: Collection[str] = ()) -> str:
    """What the first paragraph of a docstring says a function is for, on one line; "" when it says nothing.

    Args:
        paragraph: with its lines.
        own_names: of the function and its class: words that are in them say nothing more.
        parameters: names of what it takes, with which a line about one of them begins.
    """
    known = {name.lower() for name in parameters}
    lines = []
    for line in paragraph.splitlines():
        if _SECTION.match(line) or _is_entry(line, known):
            break
        if not re.fullmatch(r"[\W_]*", line):  # a rule of dashes
            lines.append(line)
    kept: list[str] = []
    for sentence in sentences(one_line(" ".join(lines))):
        if _NO_PURPOSE.match(sentence):
            break
        kept.append(sentence)
    text = " ".join(kept)
    return text if says_something(text, own_names) else ""


def sentences(text: str) -> list[str]:
    """The sentences of a text on one line."""
    found: list[str] = []
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\[(`\"'¿¡]|[^\x00-\x7f])", text):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += f" {part}"
        elif part:
            found.append(part)
    return found


def says_something(text: str, own_names: Collection[str] = ()) -> bool:
    """Whether a text has a word that is neither empty by itself nor one of the function's own name."""
    own = [word for name in own_names for word in _words(name)]
    words = [word for word in _words(text) if len(word) > 1 and not word.isdigit()]
    if len(words) < 2 and text.isascii():
        return False  # "Dropout": a title; other scripts may have no blanks
    return any(word not in _GENERIC and not any(_alike(word, other) for other in own) for word in words)


def _words(text: str) -> list[str]:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", text)
    return re.findall(r"[^\W_]+", parted.lower())


def _alike(word: str, other: str) -> bool:
    """Whether two words are forms of one: ``prunes`` and ``prune``, ``initialized`` and ``initialize``."""
    shorter, longer = sorted((word, other), key=len)
    same = len(shorter) > 3 and longer.startswith(shorter[: max(4, len(shorter) - 1)])
    return word == other or (same and len(longer) - len(shorter) <= 3)


def _is_entry(line: str, known: Collection[str]) -> bool:
    match = _ENTRY.match(line)
    if match is None:
        return False
    name = match["name"].lstrip("*")
    if name.lower() in known:
        return bool(match["type"]) or ":" in match[0] or "-" in match[0].lstrip("-* ")
    # A name that is none of the parameters still is one by its looks: it has a type, or an underscore.
    return (bool(match["type"]) and ":" in match[0]) or ("_" in name.strip("_") and ":" in match[0])

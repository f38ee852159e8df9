"""Marks that are no code: quotes, line numbers and prompts before lines, and characters that editors put in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

_QUOTED = re.compile(r"[ ]{0,3}>(?!>) ?")
_NUMBERED = re.compile(r"[ \t]*(?P<number>\d+)(?P<mark>\t|[ ]?[|:│→]|[ ](?![ ]*[=+*/<-]))")
_PROMPT = re.compile(r"[ ]*(?:>>> ?|In \[\d*\]: ?)")
_CONTINUED = re.compile(r"[ ]*(?:\.{3,}:? ?)")
_HAS_CODE = re.compile(r"(?:\s*(?:async )?def |\s*class |\s*[`~]{3})")
_INVISIBLE = {
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad")),
    0xA0: " ",
    0x202F: " ",
    0x3000: " ",
}
_TYPOGRAPHIC = str.maketrans("“”„‘’‚−", "\"\"\"'''-")
_ENTITY = re.compile(r"&(?P<name>lt|gt|amp|quot|apos|nbsp|#\d{2,4}|#x[0-9a-fA-F]{2,4});")


def unmarked(lines: Sequence[str], number: int) -> list[str]:
    for mark, reader in ((_QUOTED, _quoted), (_PROMPT, _prompted), (_NUMBERED, _numbered)):
        if mark.match(lines[number]):
            return list(reader(lines, number))
    return []


def has_code(lines: Sequence[str]) -> bool:
    return any(map(_HAS_CODE.match, lines))


def _quoted(lines: Sequence[str], number: int) -> Iterator[str]:
    for position in range(number, len(lines)):
        if not (mark := _QUOTED.match(lines[position])):
            return
        yield lines[position][mark.end() :]


def _prompted(lines: Sequence[str], number: int) -> Iterator[str]:
    for position in range(number, len(lines)):
        if not (mark := (_PROMPT if position == number else _CONTINUED).match(lines[position])):
            return
        yield lines[position][mark.end() :]


def _numbered(lines: Sequence[str], number: int) -> Iterator[str]:
    before, run = None, list[str]()
    for position in range(number, len(lines)):
        line = lines[position]
        found = _NUMBERED.match(line) or re.fullmatch(r"[ \t]*(?P<number>\d+)(?P<mark>)", line)
        if not found or (before is not None and int(found["number"][:9]) != before + 1):
            break
        before = int(found["number"][:9])
        run.append(line[found.end() :])
    is_spaced = all(line[:1] in ("", " ") for line in run)
    yield from (line[1:] if is_spaced else line for line in run) if len(run) > 1 else ()


def repaired(text: str) -> Iterator[str]:
    """Yield a text that is not Python without invisible characters, with plain quotes, and without HTML's entities."""
    for change in (_visible, _plain, _unescaped):
        old, text = text, change(text)
        if text != old:
            yield text


def _visible(text: str) -> str:
    return text.translate(_INVISIBLE)


def _plain(text: str) -> str:
    return text.translate(_TYPOGRAPHIC)


def _unescaped(text: str) -> str:
    return html.unescape(text) if _ENTITY.search(text) else text


def escaped_names(text: str) -> set[str]:
    """Return the names of entities in a text: where they are names of variables, it is Python by accident."""
    return {match["name"] for match in _ENTITY.finditer(text)}

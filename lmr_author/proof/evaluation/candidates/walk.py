"""Walk through a reply by its lines: fences with Python, edits, code between other text, and tags around thoughts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.proof.evaluation.candidates import edits
from lmr_author.proof.evaluation.candidates.edits import Edit
from lmr_author.proof.evaluation.candidates.reply import Block, Invalid, Unread, parsed_module

_MAX_PARSED = 16 * 2**20
"""Characters that are parsed to find the code in a reply."""
_LEAST_PARSED = 1000
"""Characters that count for a shorter text: each attempt takes time."""
_MAX_FENCES = 400
_MAX_EDITS = 300
_MAX_CLOSINGS = 30
_MAX_ENDS = 10

_LONG_QUOTES = ('"""', "'''")
_QUOTE = "[\"'`]"
_THOUGHTS = "think|thinking|reasoning|thought|thoughts|scratchpad"
# Words about such tags have them in quotes; a fence may follow them.
_TAG = re.compile(rf"(?<!{_QUOTE})<(?P<end>/?)(?P<name>{_THOUGHTS})>(?!{_QUOTE}(?!``))", re.IGNORECASE)
_OPENING = re.compile(r"(?P<before>[^`]*?)(?P<fence>`{3,}|~{3,})[ \t{.]*(?P<label>[^`]*)")
_BEGINS = re.compile(r"[ \t]*(?:(?:def|class|async|import|from)\b|@|[A-Za-z_]\w*\s*(?::[^=]+)?=[^=])")
_DEF = re.compile(r"\s*(?:async )?def\s+(?P<name>\w+)")
_LINE_IN_WORDS = re.compile(r"\b(?:replace|change|insert|add)\b[^`]*\bline \d+", re.IGNORECASE)
_WRAPPER = "if True:\n"

Part = Block | Edit | Unread


def from_json(text: str) -> str:
    """Return the longest string of a reply in JSON; any other text as it is."""
    inner = re.fullmatch(r"\s*(?:```\w*\n)?(?P<json>[\[{\"].*?)(?:```)?\s*", text, re.DOTALL)
    try:
        data = json_data(inner["json"]) if inner else []
    except NotParsed:
        return text
    match data:
        case dict():
            values = list(data.values())
        case list():
            values = data
        case _:
            values = [data]
    return max((value for value in values if isinstance(value, str)), key=len, default=text)


class Walk:
    """Walks through a reply by its lines, and gives up when it has parsed too much.

    Attributes:
        parts: what was found, without thoughts.
        thought: the tag of thoughts that do not end.
    """

    def __init__(self, text: str) -> None:
        self.parts: list[Part] = []
        self.thought = ""
        self._lines, self._number = text.split("\n"), 0
        self._left, self._fences, self._edits = _MAX_PARSED, 0, 0
        self._run: list[str] = []
        self._outside = 0
        self._closings: set[int] = set()
        self._path, self._in_diff = "", False
        if whole := self._parsed(text):
            self.parts = [whole]
            return
        while self._number < len(self._lines):
            _ = self._fence() or self._edit() or self._code() or self._words()
        self._flush()
        if self.thought:
            del self.parts[self._outside :]

    def _add(self, part: Part) -> None:
        self._flush()
        self.parts.append(part)

    def _flush(self) -> None:
        """Make a block of the code between other text."""
        module, self._run = parsed_module("\n".join(self._run)) if self._run else None, []
        if module:
            self.parts.append(Block.of(module, is_whole=False))

    def _fence(self) -> bool:
        """Take a fence with Python; the lines of another one are read like any text, up to its end."""
        opening = _OPENING.fullmatch(self._lines[self._number])
        if opening is None or _TAG.search(opening["before"]) or self._fences > _MAX_FENCES:
            return False
        self._number += 1
        if self._number - 1 in self._closings:
            self._path, self._in_diff = "", False
            return True
        self._fences += 1
        first = None
        for end, content in self._contents(opening):
            first = end if first is None else first
            if block := self._parsed(from_json(content)):
                self._add(block)
                self._number = end + 1
                return True
        label = opening["label"].lower()
        if first is not None and first < len(self._lines):
            rest = re.sub(r"[`~]+[ \t]*$", "", self._lines[first])
            if rest.strip():
                self._lines[first] = rest
            else:
                self._closings.add(first)
        self._in_diff = label.startswith(("diff", "patch"))
        if label.startswith("py"):
            self._add(Unread("", "\n".join(self._lines[self._number : first])))
        return True

    def _contents(self, opening: re.Match[str]) -> Iterator[tuple[int, str]]:
        """Yield the line of each end that a fence may have, and what stands before it: code may have fences, too."""
        closing = re.compile(rf"{opening['fence']}{opening['fence'][-1]}*[ \t]*$")
        indent = "" if opening["before"].strip() else opening["before"]
        left = _MAX_CLOSINGS
        content: list[str] = []
        for number in range(self._number, len(self._lines)):
            line = self._lines[number].removeprefix(indent)
            if end := closing.search(line):
                text = "\n".join([*content, line[: end.start()]])
                yield number, text
                left -= 1
                # Code has fences in comments and in strings of several lines alone.
                is_inside = line.lstrip().startswith("#") or any(
                    text.count(mark) % 2 for mark in _LONG_QUOTES
                )
                if not is_inside or left == 0 or self._left < 0:
                    return
            content.append(line)
        yield len(self._lines), "\n".join(content)

    def _edit(self) -> bool:
        lines, number = self._lines, self._number
        if header := edits.read_path(lines, number):
            self._path, self._number = header
            self._in_diff = True
            return True
        found = edits.read_search(lines, number)
        if not found and (lines[number].startswith("@@") or (self._in_diff and lines[number].strip())):
            found = edits.read_hunk(lines, number, self._path)
        if not found:
            return False
        edit, self._number = found
        self._edits += 1
        if self._edits > _MAX_EDITS:
            raise Invalid(f"the answer has more than {_MAX_EDITS} edits")
        self._add(edit)
        return True

    def _code(self) -> bool:
        """Take a definition, import or assignment that stands between other text."""
        lines, number = self._lines, self._number
        begin = lines[number]
        if self.thought or not _BEGINS.match(begin):
            return False
        if end := self._end(number):
            self._run += [_WRAPPER.strip()] if begin[0] in " \t" else []
            self._run += lines[number:end]
            self._number = end
            return True
        function = _DEF.match(begin)
        if function is None:
            return False
        end = number + 1  # the rest of an unfinished function is no code of its own
        while end < len(lines) and _is_below(lines[end], begin):
            end += 1
        text = "\n".join(lines[number:end])
        # A signature alone is none, unless the reply ends with it.
        if end == len(lines) or text.rstrip() != begin.rstrip():
            self._add(Unread(function["name"], text))
        self._number = end
        return True

    def _words(self) -> bool:
        """Skip words; tags around thoughts among them drop what stands between."""
        line = self._lines[self._number]
        if not self.thought and _LINE_IN_WORDS.search(line):
            for span in re.findall(r"`([^`]+)`", line):
                if block := self._parsed(span):
                    self._add(Block(block.module, block.statements, is_whole=False))
        end = 0
        for tag in _TAG.finditer(line):
            end = tag.end()
            name = tag["name"].lower()
            is_in_words = bool(line[: tag.start()].strip() and line[end:].strip())
            if not tag["end"] and not self.thought:
                self._flush()
                self.thought, self._outside = name, len(self.parts)
            elif tag["end"] and (self.thought == name or not (self.thought or is_in_words)):
                self._flush()
                # Thoughts whose first tag is missing began with the reply.
                del self.parts[self._outside if self.thought else 0 :]
                self.thought = ""
        if end and line[end:].strip():
            self._lines[self._number] = line[end:]
        else:
            self._number += 1
        return True

    def _parsed(self, text: str) -> Block | None:
        """Parse text as it is, indented as a whole, or with the indentation that its first line lost."""
        lines = [line for line in text.split("\n") if line.strip()]
        self._left -= max(len(text), _LEAST_PARSED)
        if not lines or self._left < 0:
            return None
        code, indents = text.lstrip("\n"), [re.match(r"[ \t]*", line)[0] for line in lines[:2]]  # type: ignore[index]
        choices = [_WRAPPER + code] if indents[0] else [text, _WRAPPER + indents[-1] + code]
        modules = filter(None, map(parsed_module, choices))
        return next((Block.of(module) for module in modules if module.tree.body), None)

    def _end(self, begin: int) -> int:
        """Return the end of the shortest run of lines that is Python, with all lines that are deeper; 0 for none."""
        lines, tries = self._lines, 0
        for end in range(begin + 1, len(lines) + 1):
            if end < len(lines) and _is_below(lines[end], lines[begin]):
                continue
            tries += 1
            if self._left < 0 or tries > _MAX_ENDS:
                break
            if self._parsed("\n".join(lines[begin:end])):
                return end
        return 0


def _is_below(line: str, begin: str) -> bool:
    """Return True for a line that is empty, or indented deeper than another one."""
    return not line.strip() or len(line) - len(line.lstrip()) > len(begin) - len(begin.lstrip())

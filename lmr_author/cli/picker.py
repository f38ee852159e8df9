"""The screen on which a function is chosen: a query, the list of what matches it, and the source of one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings

BESIDE = 120
"""Columns from which the source stands beside the list, not below it."""
LIST_ROWS = 9
"""Rows of the list when the source stands below it."""

STYLE = {
    "prompt": "bold",
    "chosen": "reverse",
    "marked": "ansigreen",
    "number": "ansicyan",
    "dim": "ansibrightblack",
    "warning": "ansiyellow",
}


@dataclass(frozen=True)
class Choice:
    """A line of the list.

    Attributes:
        target: what is returned, and searched.
        score: shown before it.
        about: one line on it; warnings apart.
        warning: what speaks against it.
        source: its source text, read when it is looked at.
    """

    target: str
    score: float
    about: str
    warning: str
    source: Callable[[], str]


def matching(choices: Sequence[Choice], query: str) -> list[Choice]:
    """The choices in which every word of a query occurs, the closest matches first, else in their order.

    A word occurs when its letters do, in order. Closest is where they stand together, best at the start of a
    name; case does not matter.
    """
    words = query.lower().split()
    found = []
    for place, choice in enumerate(choices):
        text = choice.target.lower()
        distances = [_distance(word, text) for word in words]
        if None not in distances:
            found.append((sum(item or 0 for item in distances), place, choice))
    found.sort(key=lambda item: item[:2])
    return [choice for _, _, choice in found]


def _distance(word: str, text: str) -> int | None:
    """How far a word is from occurring in a text: 0 at the start of a name; None when letters are missing."""
    at = text.find(word)
    if at >= 0:
        starts = any(not text[place - 1].isalnum() for place in _places(word, text) if place)
        return 0 if at == 0 or starts else 1
    # The shortest piece of the text that holds the letters in order.
    best: int | None = None
    for start in _places(word[0], text):
        place = start
        for letter in word[1:]:
            place = text.find(letter, place + 1)
            if place < 0:
                return best
        length = place - start + 1
        best = min(best or length + 1, length + 1)
    return best


def _places(word: str, text: str) -> list[int]:
    found, at = [], text.find(word)
    while at >= 0:
        found.append(at)
        at = text.find(word, at + 1)
    return found


class Picker:
    """The state of the screen: the query, what matches it, which line is meant, what is marked."""

    def __init__(self, choices: Sequence[Choice], several: bool) -> None:
        from prompt_toolkit.buffer import Buffer

        self._choices = choices
        self._several = several
        self._matches = list(choices)
        self._place = 0
        self._marked: list[str] = []
        self._query = Buffer(multiline=False, on_text_changed=lambda _: self._search())
        self._preview = Buffer(read_only=True)
        self._show()

    def run(self) -> list[str]:
        """Show it; the targets chosen."""
        chosen: list[str] = self._application().run()
        return chosen

    def _search(self) -> None:
        self._matches = matching(self._choices, self._query.text)
        self._place = 0
        self._show()

    def _move(self, by: int) -> None:
        self._place = max(0, min(len(self._matches) - 1, self._place + by))
        self._show()

    def _show(self) -> None:
        """Put the source of the line that is meant into the preview."""
        from prompt_toolkit.document import Document

        text = self._matches[self._place].source() if self._matches else ""
        self._preview.set_document(Document(text, 0), bypass_readonly=True)

    def _scroll(self, by: int) -> None:
        document = self._preview.document
        row = max(0, min(document.line_count - 1, document.cursor_position_row + by))
        self._preview.cursor_position = document.translate_row_col_to_index(row, 0)

    def _mark(self) -> None:
        if self._several and self._matches:
            target = self._matches[self._place].target
            if target in self._marked:
                self._marked.remove(target)
            else:
                self._marked.append(target)
            self._move(1)

    def _rows(self) -> int:
        """Lines that the list has: beside the source all but the query and the help."""
        return _size().rows - 2 if _is_wide() else LIST_ROWS

    def _lines(self) -> StyleAndTextTuples:
        """The part of the list that fits, with the line that is meant in it."""
        rows = self._rows()
        first = max(0, min(self._place - rows // 2, len(self._matches) - rows))
        lines: StyleAndTextTuples = []
        for place in range(first, min(first + rows, len(self._matches))):
            choice = self._matches[place]
            mark = "*" if choice.target in self._marked else " "
            style = "class:chosen" if place == self._place else ""
            lines.append((f"{style} class:marked", f"{'>' if place == self._place else ' '}{mark}"))
            lines.append((f"{style} class:number", f"{choice.score:4.0f} "))
            lines.append((style, f" {choice.target}\n"))
        return lines or [("class:warning", "  no function matches\n")]

    def _about(self) -> StyleAndTextTuples:
        if not self._matches:
            return []
        choice = self._matches[self._place]
        warning = f"{choice.warning} · " if choice.warning else ""
        return [("class:warning", warning), ("class:dim", choice.about)]

    def _help(self) -> StyleAndTextTuples:
        parts = [f" {len(self._matches)} of {len(self._choices)}"]
        if self._several:
            parts += [f"{len(self._marked)} marked"] if self._marked else []
            parts.append("Tab marks")
        parts += ["Enter chooses", "PgUp/PgDn scroll", "Esc ends"]
        return [("class:dim", " · ".join(parts))]

    def _application(self) -> Application[list[str]]:
        import sys

        from prompt_toolkit.application import Application
        from prompt_toolkit.layout import Layout
        from prompt_toolkit.output import create_output
        from prompt_toolkit.styles import Style

        # Where only stderr is a terminal (stdout goes to a file), the picker is drawn there.
        redirected = sys.stderr.isatty() and not sys.stdout.isatty()
        application: Application[list[str]] = Application(
            layout=Layout(self._container()),
            key_bindings=self._keys(),
            style=Style.from_dict(STYLE),
            full_screen=True,
            erase_when_done=True,
            output=create_output(stdout=sys.stderr) if redirected else None,
        )
        application.ttimeoutlen = 0.05  # Esc is not waited for long
        return application

    def _container(self) -> Any:
        from prompt_toolkit.layout import (
            BufferControl,
            DynamicContainer,
            FormattedTextControl,
            HSplit,
            VSplit,
            Window,
        )
        from prompt_toolkit.layout.processors import BeforeInput
        from prompt_toolkit.lexers import PygmentsLexer
        from pygments.lexers.python import PythonLexer

        query = Window(
            BufferControl(self._query, input_processors=[BeforeInput("Which function? ", "class:prompt")]),
            height=1,
        )
        names = Window(FormattedTextControl(self._lines))
        preview = Window(BufferControl(self._preview, lexer=PygmentsLexer(PythonLexer), focusable=False))
        about = Window(FormattedTextControl(self._about), height=1)
        below = HSplit([HSplit([names], height=LIST_ROWS), about, Window(height=1, char="─"), preview])
        right = HSplit([about, Window(height=1, char="─"), preview])
        beside = VSplit([names, Window(width=1, char="│"), right])
        body = DynamicContainer(lambda: beside if _is_wide() else below)
        return HSplit([query, body, Window(FormattedTextControl(self._help), height=1)])

    def _keys(self) -> KeyBindings:
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()

        def bind(names: Sequence[str], run: Callable[[], object]) -> None:
            for name in names:
                keys.add(name, eager=True)(lambda _: run() and None)

        bind(("up", "c-p"), lambda: self._move(-1))
        bind(("down", "c-n"), lambda: self._move(1))
        bind(("pageup",), lambda: self._scroll(-10))
        bind(("pagedown",), lambda: self._scroll(10))
        bind(("tab",), self._mark)

        @keys.add("enter", eager=True)
        def _(event: Any) -> None:
            chosen = self._marked or [choice.target for choice in self._matches[self._place :][:1]]
            if chosen:
                event.app.exit(result=list(chosen))

        @keys.add("escape", eager=True)
        @keys.add("c-c", eager=True)
        def _(event: Any) -> None:
            event.app.exit(exception=KeyboardInterrupt)

        return keys


def _size() -> Size:
    from prompt_toolkit.application import get_app

    return get_app().output.get_size()


def _is_wide() -> bool:
    return _size().columns >= BESIDE

"""Everything that talks to a terminal: lines, notes, diffs, progress and questions.

Rich and questionary are imported where they are used, so that start-up and ``--help`` pay for neither.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.texts import Step, shortened

if TYPE_CHECKING:
    from questionary import Question
    from rich import progress as rich_progress
    from rich.console import Console

_DIFF_STYLES = {"---": "bold", "+++": "bold", "@@": "cyan", "+": "green", "-": "red", "moved ": "yellow"}


# Plain text


def one_line(text: str) -> str:
    r"""Return text that cannot move the cursor or start a line: control characters are escaped.

    So are bytes of file names that are not UTF-8, as ``\xNN``.
    """
    return "".join(char if char.isprintable() or char == "\u00a0" else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")


def framed(before: str, value: object, after: str = "") -> str:
    return f"{before}{value}{after}" if value else ""


def repeated(option: str, values: Iterable[object]) -> list[object]:
    words: list[object] = []
    for value in values:
        words += [option, value]
    return words


def wrapped(text: str, columns: int, hang: int) -> list[str]:
    """Return a text's lines at a width, all but the first indented by ``hang``; words and `commands` stay whole."""
    glued = re.sub(r"[`(]lmr-author [^`)]*[`)]", lambda command: command[0].replace(" ", "\u00a0"), text)
    lines = textwrap.wrap(
        glued,
        max(columns, hang + 20),
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0", " ") for line in lines] or [""]


def folded(path: str, columns: int) -> list[str]:
    """Return a path or node id in lines of at most so many columns, broken only before "::" and after "/"."""
    lines = [""]
    for part in re.split(r"(?<=/)|(?=::)", path):
        if lines[-1] and len(lines[-1] + part) > columns:
            lines.append("")
        lines[-1] += part
    return lines


def shortened_inside(text: str, columns: int) -> str:
    """Return a text of at most so many columns, with an ellipsis in its first half: the end says the most."""
    end = 2 * columns // 3
    return text if len(text) <= columns else f"{text[: columns - end - 1]}…{text[-end:]}"


def print_json(data: Any) -> None:
    """Write one JSON document to stdout; escaped where stdout cannot encode its characters."""
    import json

    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair in a foreign file, or another encoding
        text = json.dumps(data, indent=2) + "\n"
    sys.stdout.write(text)


# Lines


def fitted(text: str, margin: int) -> str:
    """Return a text cut to one line of the terminal on stdout, less a margin; whole where there is none."""
    screen = console(stderr=False)
    return shortened(text, screen.width - margin) if screen.is_terminal else text


def console(*, stderr: bool = True) -> Console:
    """Return the console on stderr (for all but reports) or stdout. Plain without a terminal or with NO_COLOR.

    Where both are one terminal there is one console, so that a report is printed above a turning spinner.
    """
    return _console(stderr or (sys.stdout.isatty() and sys.stderr.isatty()))


@cache
def _console(stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def say(
    text: str,
    head: str = "",
    style: str = "",
    *,
    indent: int = 0,
    hang: int | None = None,
    tone: str = "",
    stderr: bool = True,
    whole: bool = False,
    styles: Mapping[str, str] | None = None,
) -> None:
    """Print a head in a style and a text, wrapped at the terminal's width.

    Args:
        indent: columns before the head.
        hang: columns before the lines that follow the first; by default two more than ``indent``.
        tone: the style of the text.
        whole: do not wrap, because the line is to be copied. Without a terminal no line is wrapped.
        styles: regular expression → style of its matches.
    """
    from rich.text import Text

    screen = console(stderr=stderr)
    global _said_at
    _said_at = time.monotonic()
    line = " " * indent + " ".join(filter(None, (head, one_line(text.expandtabs(4)))))
    columns = 10**6 if whole or not screen.is_terminal else screen.width
    lines = wrapped(line, columns, indent + 2 if hang is None else hang)
    for number, each in enumerate(lines):
        shown = Text(each.rstrip(), tone)
        if head and number == 0:
            shown.stylize(style, indent, indent + len(head))
        for pattern, look in (styles or {}).items():
            shown.highlight_regex(pattern, look)
        screen.print(shown, soft_wrap=True)


def say_lines(text: str, *, indent: int = 0, hang: int | None = None) -> None:
    for line in text.splitlines():
        say(line, indent=indent, hang=hang)


def note(text: str, *, indent: int = 0) -> None:
    say(text, "note:", "yellow", indent=indent)


def show_wait(task: Path) -> None:
    say(f"another command is changing {task.name}; Ctrl-C gives up", "waiting:", "yellow")


def hint(text: str, *, indent: int = 0, stderr: bool = True) -> None:
    if text:
        say(text, "hint:", "cyan", indent=indent, stderr=stderr)


def then(*words: object, head: str = "next", indent: int = 0, stderr: bool = True) -> None:
    """Print the next command on a line of its own, to be pasted; without words after ``lmr-author``, as it is."""
    command = shlex.join(["lmr-author", *map(str, words)])
    say(f"{head}: {command}", indent=indent, stderr=stderr, whole=True)


def diff(lines: Iterable[str], *, indent: int = 0, stderr: bool = True) -> None:
    from rich.text import Text

    screen = console(stderr=stderr)
    for line in lines:
        style = next((style for start, style in _DIFF_STYLES.items() if line.startswith(start)), "")
        shown = one_line(line.removesuffix("\r").replace("\t", "    "))
        screen.print(Text(" " * indent + shown, style), soft_wrap=True)


def source(code: str, language: str = "python") -> None:
    from rich.padding import Padding
    from rich.syntax import Syntax

    shown = Syntax(code, language, theme="ansi_dark", background_color="default", word_wrap=True)
    console().print(Padding(shown, (0, 0, 0, 2)))


def facts(rows: Mapping[str, str]) -> None:
    for name, value in rows.items():
        say(f"{name:<12} {value}", indent=2, hang=15)


def columns_of(rows: Collection[tuple[str, ...]]) -> None:
    """Print rows in aligned columns on stdout, the first one bold; the last column is wrapped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    hang = sum(width + 2 for width in widths[:-1])
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        say("  ".join(cells).rstrip(), tone="" if number else "bold", hang=hang, stderr=False)


# Progress


SURE_SECONDS = 5.0
"""After so much of a step its speed is taken for that of the rest."""
BESIDE = len("⠋  0:00:00 ")
QUIET_SECONDS = 60.0
"""Without a terminal a step is printed after so long without any line: people read logs."""
_said_at = 0.0


class Progress:
    """One changing line on stderr with elapsed and remaining time; without a terminal, a line after long silence."""

    def __init__(self, line: rich_progress.Progress | None) -> None:
        self._line = line
        self._started = self._began = time.monotonic()
        self._printed = ""
        self._first = self._last = Step("")

    @property
    def live(self) -> bool:
        return self._line is not None

    def __call__(self, message: str) -> None:
        step, left, now = " ".join(message.split()), self._left(message), time.monotonic()
        if self._line is not None:
            fitting = shortened(step, self._line.console.width - len(left) - BESIDE)
            self._line.update(self._line.task_ids[0], description=fitting, left=left)
        elif now - max(self._started, _said_at) >= QUIET_SECONDS and step != self._printed:
            self._printed = step
            say(f"{step} ({now - self._started:.0f} s{framed(', ', left)})", tone="dim")

    def _left(self, step: str) -> str:
        """Return the remaining time of a step in words; "" if unknown."""
        if not isinstance(step, Step) or not step.total:
            return ""
        if step.total != self._last.total or step.done < self._last.done:
            self._first, self._began = step, time.monotonic()
        self._last = step
        done, elapsed = step.done - self._first.done, time.monotonic() - self._began
        if not done or elapsed < SURE_SECONDS or step.done >= step.total:
            return ""
        return f"about {timedelta(seconds=round(elapsed / done * (step.total - step.done)))} left"

    @contextmanager
    def paused(self) -> Iterator[None]:
        if self._line is not None:
            self._line.stop()
        yield
        if self._line is not None:
            self._line.start()


@contextmanager
def progress(message: str) -> Iterator[Progress]:
    screen = console()
    if not screen.is_terminal:
        yield Progress(None)
        return
    from rich.progress import Progress as Line
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    step = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True))
    left = TextColumn("{task.fields[left]}", table_column=Column(no_wrap=True))
    with Line(SpinnerColumn(), step, TimeElapsedColumn(), left, console=screen, transient=True) as line:
        line.add_task(" ".join(message.split()), left="")
        yield Progress(line)


# Questions. Every one has a flag; Ctrl-C is an interruption.

Check = Callable[[str], str]
"""Returns what is wrong with an answer, "" for nothing; the question is asked until there is nothing."""


class Back(Exception):
    """Escape was pressed: ask the previous question again."""


_asking = True
"""False after ``--no-input``."""
_is_back_possible = False


def allow_questions(allowed: bool) -> None:
    global _asking
    _asking = allowed


def can_ask() -> bool:
    return _asking and sys.stdin.isatty() and sys.stderr.isatty()


def require_person(there: bool, problem: str, hint: str) -> None:
    """Raise UsageError if something is missing and nobody can be asked."""
    if not there:
        raise UsageError(problem, hint)


@contextmanager
def going_back(possible: bool = True) -> Iterator[None]:
    """Let Escape leave the questions of the block, which then raise Back."""
    global _is_back_possible
    before = _is_back_possible
    _is_back_possible = before or possible
    try:
        yield
    finally:
        _is_back_possible = before


def steps(*ask: Callable[[], object]) -> None:
    """Ask questions in order; Escape returns to the previous one, skipping those that returned False.

    At the first one Escape raises Back if these are themselves a step, and does nothing otherwise.
    """
    asked: list[int] = []
    at = 0
    while at < len(ask):
        try:
            with going_back(bool(asked)):
                if ask[at]() is not False:
                    asked.append(at)
            at += 1
        except Back:
            if not asked:
                raise
            at = asked.pop()


def ask(**questions: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Ask questions as :func:`steps` does; each gets the answers so far, and returns None if it asked nothing."""
    answers: dict[str, Any] = {}

    def step(name: str) -> bool:
        answers[name] = questions[name](answers)
        return answers[name] is not None

    steps(*(partial(step, name) for name in questions))
    return answers


def _answer(question: Question) -> Any:
    """Ask a question of questionary; Escape raises Back if there is a previous question."""
    from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings

    def leave(event: Any) -> None:
        if _is_back_possible:
            event.app.exit(exception=Back)

    escape, application = KeyBindings(), question.application
    escape.add("escape")(leave)
    application.key_bindings = merge_key_bindings([application.key_bindings or KeyBindings(), escape])
    # Escape begins the sequences of other keys: how long to wait for their rest.
    application.ttimeoutlen = application.timeoutlen = 0.1
    return question.unsafe_ask()


def text(question: str, default: str = "", check: Check | None = None) -> str:
    import questionary

    answer: str = _answer(questionary.text(question, default=default, validate=_validate(check)))
    return answer.strip()


def needed(question: str, default: str = "", check: Check | None = None) -> str:
    return text(question, default, _required(check))


def path(question: str, default: str = "", check: Check | None = None) -> str:
    import questionary

    answer: str = _answer(questionary.path(question, default=default, validate=_validate(_required(check))))
    return str(Path(answer.strip()).expanduser()) if answer.strip().startswith("~") else answer.strip()


def _validate(check: Check | None) -> Callable[[str], str | bool]:
    """Return a check for questionary, whose warning must fit one line."""

    def validate(answer: str) -> str | bool:
        problem = check(answer.strip()) if check else ""
        return shortened_inside(problem, shutil.get_terminal_size().columns - 1) or True

    return validate


def _required(check: Check | None) -> Check:
    return lambda answer: (check(answer) if check else "") if answer else "an answer is needed"


def problem(action: Callable[[], object]) -> str:
    """Return the message of the error that an action raises; "" for none. For the ``check`` of a question."""
    try:
        action()
    except LmrError as error:
        return error.message
    return ""


def letter(question: str, answers: Mapping[str, str]) -> str:
    """Ask for an answer by its letter or word; Enter alone is none, so that nothing is signed by mistake."""
    answers = {**answers, "b": "back"} if _is_back_possible else answers
    words = {**answers, **{answer: answer for answer in answers.values()}}
    shown = ", ".join(f"{key} {answer}" for key, answer in answers.items())
    say(question, tone="bold")  # wrapped at words, as a prompt is not
    given = needed(f"{shown}:", "", lambda text: "" if text.lower() in words else f"type {shown}")
    if words[given.lower()] == "back":
        raise Back
    return words[given.lower()]


def choice(question: str, choices: Mapping[str, str] | Iterable[str], default: str = "") -> str:
    """Ask for one of several answers, or of several answers with their labels."""
    import questionary

    labels = dict(choices) if isinstance(choices, Mapping) else {answer: answer for answer in choices}
    width = shutil.get_terminal_size().columns
    # The hint about the arrow keys would be broken in the middle where it does not fit.
    fits = len(question) + len("? (Use arrow keys)") + 2 <= width
    answer: str = _answer(
        questionary.select(
            question,
            choices=[
                questionary.Choice(shortened(label, width - 4), value) for value, label in labels.items()
            ],
            default=default or None,
            instruction=None if fits else " ",
        )
    )
    return answer


def revise(answers: Callable[[], Mapping[str, str]], ask: Callable[[str], object]) -> None:
    """Let a person change answers (name → answer, as they are now) until all are right."""
    while (chosen := choice("Change an answer?", {"done": "No, store them", **answers()})) != "done":
        with suppress(Back), going_back():
            ask(chosen)


def confirm(question: str, *, default: bool = True) -> bool:
    import questionary

    answer: bool = _answer(questionary.confirm(question, default=default))
    return answer


def several(
    question: str, remarks: Mapping[str, str], unchecked: Collection[str] = (), *, search: bool = False
) -> list[str]:
    """Ask for some of several answers, each offered with a remark; all but ``unchecked`` are preselected.

    With ``search``, for many answers, typing filters them, none is preselected, and at least one is needed.
    """
    import questionary

    width = shutil.get_terminal_size().columns - 6
    marks = questionary.checkbox(
        question,
        choices=[
            questionary.Choice(
                shortened(f"{name}  {remark}".rstrip(), width)
                if len(name) < width - 3
                else shortened_inside(name, width),
                name,
                checked=name not in unchecked and not search,
            )
            for name, remark in remarks.items()
        ],
        use_search_filter=search,
        use_jk_keys=not search,
        instruction="(type to filter, space marks, enter)" if search else "(space, then enter)",
        validate=lambda marked: bool(marked) or not search or "mark at least one with the space bar",
    )
    marks.application.erase_when_done = True  # its own echo is cut as its rows are
    answer: list[str] = _answer(marks)
    say(question if answer else f"{question} none", "?", "green", tone="bold")
    for name in answer:
        for line in folded(name, width):
            say(line, indent=2, whole=True)
    return answer


def edit(text: str, *, suffix: str = ".txt") -> str:
    """Return a text of several lines, edited in the person's editor or, without any, at the prompt."""
    # Debian's `editor` is the one that the administrator chose.
    found = next((name for name in ("editor", "nano", "vi") if shutil.which(name)), "")
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or found
    if not command:
        import questionary

        say("Edit the text; press Escape, then Enter when done. Set EDITOR to use an editor of your own.")
        prompt = questionary.text("", qmark="", default=text, multiline=True, instruction="\n")
        answer: str = prompt.unsafe_ask()
        return answer
    import subprocess

    from lmr_author.core import files

    with files.temporary_folder("lmr-author-") as folder:
        draft = folder / f"draft{suffix}"
        draft.write_text(text, "utf-8")
        try:
            subprocess.run([*shlex.split(command), str(draft)], check=True)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise LmrError(
                f"the editor {command!r} failed: {error}", "set EDITOR to one that works"
            ) from error
        return draft.read_text("utf-8", "replace")

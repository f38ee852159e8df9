"""Tools of a drafting model. Their docstrings are part of its prompt."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from inspect_ai.tool import ContentImage, ToolDef, ToolError

from lmr_author.core import files, foreign, paper
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.core.texts import counted
from lmr_author.release.drafting.desk import Desk, DraftOptions
from lmr_author.release.drafting.rounds import make_round
from lmr_author.release.recipes import STAGES
from lmr_author.release.recipes.make import MakeOptions

MOST_BYTES = 4 * 1024 * 1024
"""Size of a file that is read or searched."""
MOST_LINES = 400
MOST_HITS = 80
MOST_NAMES = 400
_LONGEST_LINE = 300


@dataclass(frozen=True)
class Tools:
    desk: Desk
    options: DraftOptions
    say: Progress
    show: Progress

    def all(self) -> list[ToolDef]:
        looking_tools = (
            self.read_pages,
            self.look_at_page,
            self.list_files,
            self.search_files,
            self.read_file,
        )
        recipe_tools = (self.list_recipe, self.read_recipe, self.write_recipe, self.remove_recipe)
        return [ToolDef(each) for each in (*looking_tools, *recipe_tools, self.make, self.give_up)]

    async def read_pages(self, first: int, last: int) -> str:
        """Read the text of pages of the paper.

        Args:
            first: the first page, from 1
            last: the last page
        """
        return _answered(pages, self.desk, first, last)

    async def look_at_page(self, number: int) -> Any:
        """Look at a page of the paper as a picture: formulas, figures and tables.

        Args:
            number: page number, from 1
        """
        picture = paper.images(self.desk.pdf, [number]).get(number)
        if picture is None:
            raise ToolError(f"the paper has no page {number} that can be drawn")
        return [ContentImage(image=f"data:image/png;base64,{base64.b64encode(picture.png).decode()}")]

    async def list_files(self, folder: str = "") -> str:
        """List files of the repository with their sizes.

        Args:
            folder: folder to look in, with its subfolders; the whole repository if omitted
        """
        return _answered(file_names, self.desk.repository, folder)

    async def search_files(self, words: str, folder: str = "") -> str:
        """Find lines of the repository's files.

        Args:
            words: words that a line must contain, ignoring case
            folder: folder to look in, with its subfolders; the whole repository if omitted
        """
        return _answered(search, self.desk.repository, words, folder)

    async def read_file(self, path: str, first: int = 1, lines: int = MOST_LINES) -> str:
        """Read lines of a file of the repository.

        Args:
            path: path of the file
            first: the first line, from 1
            lines: number of lines, at most 400
        """
        return _answered(read_text, self.desk.repository, path, first, lines)

    async def list_recipe(self) -> str:
        """List the files of the recipe so far."""
        return _answered(file_names, self.desk.recipe, "")

    async def read_recipe(self, path: str) -> str:
        """Read a file of the recipe.

        Args:
            path: path of the file
        """
        return _answered(read_text, self.desk.recipe, path)

    async def write_recipe(self, path: str, text: str) -> str:
        """Write a file of the recipe, whole.

        Args:
            path: path of the file
            text: the complete text of the file
        """
        return _answered(self.desk.write, path, text)

    async def remove_recipe(self, path: str) -> str:
        """Remove a file of the recipe.

        Args:
            path: path of the file
        """
        return _answered(self.desk.remove, path)

    async def make(self, to: str = STAGES[-1]) -> str:
        """Make the task from the recipe, in a sandbox; the result lists every problem. Each use is a round.

        Args:
            to: the last stage: source, environment, mask, record, validate, evaluate, answers
        """
        state, budget = self.desk.state, self.options.budget
        if to not in STAGES:
            raise ToolError(f"there is no stage {to!r}; there are: {', '.join(STAGES)}")
        if over := state.over(budget):
            self.desk.end("limit", over)
            raise ToolError(f"no {over} are left")
        self.say(f"{state.name}: round {state.rounds + 1} of {budget.rounds}: make --to {to}")
        stand_ins = self.desk.stand_ins(self.options.stand_ins)
        options = MakeOptions(self.options.tasks.absolute(), self.options.where, stand_ins, to=to)
        run = partial(make_round, self.desk, options, self.show)
        facts = await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        rounds = self.desk.state.rounds
        facts["rounds_left"] = max(0, budget.rounds - rounds)
        self.say(f"{state.name}: round {rounds}: {facts['state']}")
        return json.dumps(facts, ensure_ascii=False, indent=1)

    async def give_up(self, reason: str) -> str:
        """End the draft: this paper and repository make no sound task.

        Args:
            reason: why no sound task can be made, in a sentence or two
        """
        self.desk.end("gave-up", reason)
        return "ended"


def _answered(function: Callable[..., str], *arguments: Any) -> str:
    """Return a tool's result, or its refusal as text for the model."""
    try:
        return function(*arguments)
    except LmrError as error:
        raise ToolError(f"{error.message}; {error.hint}") from error


def pages(desk: Desk, first: int, last: int) -> str:
    """Return the text of some pages. Raises LmrError if there are none of these numbers."""
    there = desk.pages
    wanted = [number for number in range(first, last + 1) if number in there]
    if not wanted:
        raise LmrError(f"the paper has no pages {first} to {last}", f"it has 1 to {max(there)}")
    return "\n\n".join(f"=== page {number} ===\n{there[number]}" for number in wanted)


def file_names(root: Path, folder: str) -> str:
    """List the files in and below a folder, with their sizes; count those of subfolders if there are many."""
    start = files.inside(root, folder) if folder.strip("./") else root
    if not start.is_dir():
        raise LmrError(f"there is no folder {folder!r}", "omit it to list the whole repository")
    paths = list(files.walk(start))
    if len(paths) <= MOST_NAMES:
        return (
            "\n".join(f"{path.relative_to(root).as_posix()}  {path.stat().st_size}" for path in paths)
            or "none"
        )
    lines = [f"{path.name}  {path.stat().st_size}" for path in paths if path.parent == start]
    below = Counter(path.relative_to(start).parts[0] for path in paths if path.parent != start)
    lines += [
        f"{(start / name).relative_to(root).as_posix()}/  {counted(many, 'file')}"
        for name, many in sorted(below.items())
    ]
    return "\n".join(lines[:MOST_NAMES])


def read_text(root: Path, path: str, first: int = 1, lines: int = MOST_LINES) -> str:
    """Return numbered lines of a text file. Raises LmrError for any other."""
    text = _text(root, files.inside(root, path))
    if text is None:
        raise LmrError(f"there is no text file {path!r} of at most 4 MiB", "list the files")
    every = text.splitlines()
    first, many = max(1, first), min(max(1, lines), MOST_LINES)
    shown = every[first - 1 : first - 1 + many]
    head = f"{path}: lines {first} to {first + len(shown) - 1} of {len(every)}"
    return "\n".join(
        [head, *(f"{number:>5} {line[:_LONGEST_LINE]}" for number, line in enumerate(shown, first))]
    )


def search(root: Path, words: str, folder: str = "") -> str:
    """Return the lines of text files that contain some words, ignoring case: ``path:line: text``."""
    if not words.strip():
        raise LmrError("nothing to look for", "give the words that a line must contain")
    start = files.inside(root, folder) if folder.strip("./") else root
    hits = list[str]()
    for hit in _hits(root, start, words.casefold()):
        if len(hits) == MOST_HITS:
            hits.append("… and more: look in a folder, or for other words")
            break
        hits.append(hit)
    return "\n".join(hits) or "none"


def _hits(root: Path, start: Path, words: str) -> Iterator[str]:
    for path in files.walk(start):
        for number, line in enumerate((_text(root, path) or "").splitlines(), 1):
            if words in line.casefold():
                yield f"{path.relative_to(root).as_posix()}:{number}: {line.strip()[:_LONGEST_LINE]}"


def _text(root: Path, path: Path) -> str | None:
    data = foreign.read_inside(os.path.realpath(root), path, MOST_BYTES)
    return None if data is None or b"\0" in data[:4096] else data.decode("utf-8", "replace")

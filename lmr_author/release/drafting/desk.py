"""The desk of one draft: a folder with the paper, the repository and the recipe so far, and how far it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from lmr_author.core import files, paper, quoting, repo
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.paper.fetch import arxiv_id, names_a_file
from lmr_author.core.repo import Address
from lmr_author.core.task import Progress, Record
from lmr_author.core.task.provenance import DRAFTED, DraftOrigin
from lmr_author.core.task.record import Count, Index, Seconds, Text
from lmr_author.release.recipes.recipe import RECIPE
from lmr_author.release.recipes.stages import StandIns
from lmr_author.runtime.environment.where import Where

DESKS = ".drafts"
"""Folder, next to the recipes, of unfinished drafts and the models' logs."""
STATE, MESSAGES = "state.json", "messages.json"
Ending = Literal["", "sound", "gave-up", "refused", "silent", "limit", "error"]
GOES_ON = ("limit", "error")
"""Endings after which the same command resumes, with a larger budget or once the provider answers again."""
WRITABLE = re.compile(
    r"recipe\.yaml|ledger\.yaml|[A-Za-z0-9_-]+\.patch|[A-Za-z0-9_]+\.py|answers/[1-9]\d?/[A-Za-z0-9][\w.-]*\.py|data/[\w./-]+"
)
"""Files of a recipe that a model may write: not those in which a person accepts something."""
MOST_CHARACTERS, MOST_FILES = 200_000, 200


@dataclass(frozen=True)
class DraftRequest:
    """A paper and its repository; without ``commit``, its newest one."""

    paper: str
    repository: str
    commit: str = ""


@dataclass(frozen=True)
class Budget:
    """Limits of a draft: runs of ``make``, tokens, minutes, and dollars if the provider reports costs."""

    rounds: int
    tokens: int
    minutes: float
    cost: float | None = None


@dataclass(frozen=True)
class DraftOptions:
    """Options of ``draft``, as its help describes them; the budget is for each paper."""

    model: str
    out: Path
    tasks: Path
    budget: Budget
    where: Where
    stand_ins: StandIns
    jobs: int = 1


@dataclass(frozen=True, kw_only=True)
class DraftProgress(Record):
    """The progress of a draft.

    Attributes:
        model: who drafts.
        began: when.
        id, name: of the recipe.
        paper: the recipe's ``paper.source``.
        repository: the recipe's ``repository.url``.
        commit: the recipe's ``repository.commit``.
        rounds: runs of ``make``.
        tokens: all that were sent and received.
        seconds: of work, by model and program.
        cost: in dollars, as far as the provider reports it.
        ending: how it ended; "" while it is unfinished.
        detail: the model's or the provider's words about that, or the limit that was reached.
    """

    model: Text
    began: Text
    id: Index
    name: Text
    paper: Text
    repository: Text
    commit: Text
    rounds: Count = 0
    tokens: Count = 0
    seconds: Seconds = 0.0
    cost: Seconds = 0.0
    ending: Ending = ""
    detail: str = ""

    def over(self, budget: Budget) -> str:
        """Return the exhausted limit; "" for none."""
        used = {
            "rounds": (self.rounds, budget.rounds),
            "tokens": (self.tokens, budget.tokens),
            "minutes": (self.seconds / 60, budget.minutes),
            "cost": (self.cost, budget.cost),
        }
        return next((name for name, (has, most) in used.items() if most is not None and has >= most), "")


class Desk:
    """A draft under way. Every change is stored at once, so that a killed draft can resume."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = DraftProgress.read(folder / STATE)

    @property
    def recipe(self) -> Path:
        return self.folder / "recipe"

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    @property
    def pdf(self) -> Path:
        return self.folder / "paper.pdf"

    @property
    def messages(self) -> Path:
        return self.folder / MESSAGES

    @property
    def pages(self) -> dict[int, str]:
        return {int(number): text for number, text in files.read_json(self.folder / "paper.json").items()}

    def stand_ins(self, given: StandIns) -> StandIns:
        """Return stand-ins with the paper on this desk, so that it is fetched once."""
        papers = {self.state.paper: str(self.pdf.absolute())}
        return StandIns(given.clones, {**papers, **given.papers})

    def note(self, **changes: object) -> None:
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]
        self.state.write(self.folder / STATE)

    def end(self, ending: Ending, detail: str = "") -> None:
        self.note(ending=ending, detail=" ".join(detail.split())[:500])

    def write(self, path: str, text: str) -> str:
        """Write a file of the recipe. Raises LmrError for a path that a model may not write, or for too much text."""
        if not WRITABLE.fullmatch(path):
            raise LmrError(
                f"{path!r} is not a file that you may write",
                "recipe.yaml, ledger.yaml, NAME.py, data/…, answers/NUMBER/NAME.py, NAME.patch",
            )
        if len(text) > MOST_CHARACTERS or len(list(files.walk(self.recipe))) >= MOST_FILES:
            raise LmrError(
                f"{path}: too much", f"at most {MOST_FILES} files of {MOST_CHARACTERS} characters each"
            )
        files.write_text(files.inside(self.recipe, path), text)
        return f"wrote {path}"

    def remove(self, path: str) -> str:
        """Remove a file of the recipe. Raises LmrError if there is none that a model may remove."""
        if not WRITABLE.fullmatch(path) or not files.is_file_inside(self.recipe, path):
            raise LmrError(
                f"the recipe has no file {path!r} that you may remove", "list_recipe has its files"
            )
        files.inside(self.recipe, path).unlink()
        return f"removed {path}"


def open_desk(
    request: DraftRequest, model: str, out: Path, stand_ins: StandIns, number: int, say: Progress
) -> Desk:
    """Return the desk of a paper and its repository: an earlier one, or a new one with recipe number ``number``.

    Raises LmrError: paper or repository is unavailable, or another paper or model has a draft of this name.
    """
    address = Address.parse(request.repository)
    name = address.folder_name
    folder = out / DESKS / name
    if folder.exists():
        return _begun(folder, request, model)
    if address.local:
        hint = f"name its public address, with --clone URL={request.repository}"
        raise UsageError(f"--repo {request.repository} is a folder of this machine", hint)
    with files.staged_folder(folder) as staging:
        say(f"{name}: fetching the paper")
        fetched = paper.fetch(stand_ins.papers.get(request.paper, request.paper), staging / "paper.pdf")
        read = paper.extract(fetched.path)
        files.write_json(staging / "paper.json", read.to_json())
        say(f"{name}: cloning the repository")
        source = stand_ins.clones.get(request.repository, request.repository)
        clone = repo.clone(source, request.commit or None, staging / "repository")
        by_address = arxiv_id(request.paper) or request.paper
        state = DraftProgress(
            model=model,
            began=datetime.now(UTC).isoformat(timespec="seconds"),
            id=number,
            name=name,
            paper=(read.arxiv_id or "paper.pdf") if names_a_file(request.paper) else by_address,
            repository=request.repository,
            commit=clone.commit,
        )
        state.write(staging / STATE)
        _begin_recipe(staging, state, read, fetched.title or read.title, fetched.year or read.year)
    return Desk(folder)


def _begun(folder: Path, request: DraftRequest, model: str) -> Desk:
    desk = Desk(folder)
    if desk.state.repository != request.repository:
        raise LmrError(
            f"{folder} is a draft of {desk.state.repository}", "choose another --out, or remove that folder"
        )
    if desk.state.model != model:
        hint = f"resume with --model {desk.state.model}, or remove that folder to begin anew"
        raise LmrError(f"{folder} was begun by {desk.state.model}", hint)
    if desk.state.ending in GOES_ON:
        desk.note(ending="", detail="")
    return desk


def _begin_recipe(
    folder: Path, state: DraftProgress, read: paper.Paper, title: str, year: int | None
) -> None:
    """Write the given part of the recipe: paper, repository, number, name, and drafting model."""
    about: dict[str, object] = {"source": state.paper, "title": title, "authors": ", ".join(read.authors)}
    about |= {"year": year} if year else {}
    if state.paper == "paper.pdf":
        files.write_bytes(folder / "recipe" / "paper.pdf", (folder / "paper.pdf").read_bytes())
    recipe = {
        "id": state.id,
        "name": state.name,
        "paper": {key: value for key, value in about.items() if value},
        "repository": {"url": state.repository, "commit": state.commit},
    }
    files.write_text(folder / "recipe" / RECIPE, quoting.yaml(recipe))
    DraftOrigin(model=state.model, date=state.began).write(folder / "recipe" / DRAFTED)


def free_numbers(out: Path, many: int) -> Sequence[int]:
    taken = {int(match[0]) for path in out.glob("*") if (match := re.match(r"\d+(?=-)", path.name))}
    taken |= {
        state.id for path in out.glob(f"{DESKS}/*/{STATE}") if (state := DraftProgress.read_if_valid(path))
    }
    first = max(taken, default=0) + 1
    return range(first, first + many)

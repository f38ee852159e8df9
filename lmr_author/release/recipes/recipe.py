"""``recipe.yaml``: everything that a task is made from, as typed values; problems are reported by file and field."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from lmr_author.authoring.new_task.new_task import MOST_PATCH_BYTES, SENTENCE
from lmr_author.authoring.recording.driver import RecordOptions
from lmr_author.core import files, foreign, yaml_input
from lmr_author.core.errors import LmrError
from lmr_author.core.paper.fetch import arxiv_id, names_a_file
from lmr_author.core.task import Record, Target, ledger, require_category
from lmr_author.core.task.ledger import LEDGER, Ledger
from lmr_author.core.task.record import Index, Text
from lmr_author.core.yaml_input import FieldError
from lmr_author.proof.evaluation.candidates.answer import MAX_ANSWER
from lmr_author.release.recipes.paths import Problem, outside, special

RECIPE = "recipe.yaml"
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Commit = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{40}|[0-9a-f]{64})?$")]
MOST_RECIPE_BYTES = 1024 * 1024
Verdict = Literal["passed", "failed", "timeout", "crashed", "invalid"]


@dataclass(frozen=True, kw_only=True)
class PaperPart:
    """The paper.

    Attributes:
        source: a PDF next to recipe.yaml, a URL of one, or an arXiv id.
        title: its title.
        authors: its authors, as text.
        year: year of publication.
        url: its web address; by default the source, if that is an address.
    """

    source: Text
    title: Text
    authors: str = ""
    year: int
    url: str = ""

    @property
    def address(self) -> str:
        if self.url:
            return self.url
        identifier = arxiv_id(self.source)
        return f"https://arxiv.org/abs/{identifier}" if identifier else self.source

    @property
    def is_file(self) -> bool:
        return names_a_file(self.source)


@dataclass(frozen=True, kw_only=True)
class RepositoryPart:
    """The repository: an address and a commit, or a folder next to recipe.yaml with your own code.

    Attributes:
        url: its address, which info.json names.
        commit: the commit, in full; not with `files`.
        folder: its folder in the task; by default the last part of the address.
        patch: a unified diff next to recipe.yaml that is applied to the commit; not with `files`.
        patch_reason: why the code is patched, a sentence that reviewers read.
        files: a folder next to recipe.yaml with your own code, without git; the task names no commit.
        author: author of the only commit of `files`.
        email: the author's address.
        date: time of that commit, with its time zone.
        message: message of that commit.
        skip_submodules: leave submodules out.
        skip_lfs: leave Git LFS pointers in place.
        remove: files and folders to remove, such as a notebook with the solution.
    """

    url: Text
    commit: Commit = ""
    folder: str = ""
    patch: str = ""
    patch_reason: str = ""
    files: str = ""
    author: str = ""
    email: str = ""
    date: str = ""
    message: str = ""
    skip_submodules: bool = False
    skip_lfs: bool = False
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EnvironmentPart:
    """Requirements of the environment that the repository does not declare.

    Attributes:
        python: Python version of the image.
        base_image: the image that the Dockerfile starts from.
        packages: requirements to pin in addition to, or instead of, the repository's (`env lock --with`).
        without: packages to leave out.
        only_goal: pin only what the targets' files import (`env lock --only-goal`).
        local: more packages for the local sandbox's environment, such as torch==2.13.0.
    """

    python: str = ""
    base_image: str = ""
    packages: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    only_goal: bool = False
    local: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer whose verdict is known.

    Attributes:
        outcome: the right verdict.
        kind: a correct rewrite, a misreading of the paper, or another answer.
        about: a sentence that describes it.
    """

    outcome: Verdict
    kind: Literal["rewrite", "misreading", "other"] = "other"
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class TargetPart:
    """A function to mask. Targets are masked in their order, and numbered from 1.

    Attributes:
        target: FILE::FUNCTION or FILE::Class.method.
        category: one of LMR-Bench's nine.
        instruction: the task in words.
        record: how its calls are recorded.
        retrieval: files that the model should also see.
        also: look-alikes to mask as well.
        docstring: for a function that has none.
        comment: text below the TODO in the masked body.
        answers: name of each answer, and its right verdict; NUMBER is the target's, and the answer lies in
            answers/NUMBER/NAME.py.
    """

    target: Text
    category: str
    instruction: Text
    record: RecordOptions
    retrieval: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    docstring: str = ""
    comment: str = ""
    answers: Mapping[Name, Answer | Verdict] = field(default_factory=dict)

    @property
    def expected(self) -> dict[str, Answer]:
        return {
            name: answer if isinstance(answer, Answer) else Answer(outcome=answer)
            for name, answer in self.answers.items()
        }


@dataclass(frozen=True, kw_only=True)
class Recipe(Record):
    """Everything that a task is made from; `lmr-author make` makes the task.

    Attributes:
        id: number of the task.
        name: name of the task.
        paper: the paper.
        repository: its code.
        environment: requirements that the repository does not declare.
        targets: functions to mask.
        results: command that prints the rows of the paper's table, for a paper made from paper.html.
        minutes: minutes that a person spent on the recipe.
        remarks: problems while it was written, for RESULTS.md.
        left_out: why the task cannot be made; the recipe stays in the table, but is skipped.
    """

    id: Index
    name: Name
    paper: PaperPart
    repository: RepositoryPart
    environment: EnvironmentPart | None = None
    targets: Annotated[tuple[TargetPart, ...], msgspec.Meta(min_length=1)]
    results: str = ""
    minutes: int = 0
    remarks: tuple[str, ...] = ()
    left_out: str = ""


@dataclass(frozen=True)
class Folder:
    path: Path
    recipe: Recipe

    @property
    def task(self) -> str:
        return f"{self.recipe.id}-{self.recipe.name}"

    @property
    def ledger(self) -> Ledger:
        """The content of ``ledger.yaml``. Raises FieldError."""
        return ledger.read(self.path / LEDGER)

    def answer(self, index: int, name: str) -> Path:
        return self.path / "answers" / str(index) / f"{name}.py"

    def answer_text(self, index: int, name: str) -> str:
        """Return an answer. Raises UnsafePathError if it is no regular file, or too large."""
        return foreign.read(self.answer(index, name), MAX_ANSWER).decode("utf-8", "replace")


def read(path: Path) -> Folder:
    """Read and check the recipe in a folder. Raises LmrError naming file and field."""
    file = path / RECIPE
    recipe = yaml_input.convert(_load(file), Recipe, file, "docs/recipes.md has every field")
    folder = Folder(path, recipe)
    for field_name, problem, hint in _problems(folder):
        raise FieldError(file, field_name, problem, hint)
    _ = folder.ledger
    return folder


def find(path: Path) -> list[Path]:
    """Return the folders of recipes: this one, or those directly in it. Raises LmrError if there are none."""
    if (path / RECIPE).is_file():
        return [path]
    below = sorted(file.parent for file in path.glob(f"*/{RECIPE}"))
    if not below:
        raise LmrError(f"{path} has no recipes", f"name a folder with {RECIPE}, or a folder of such folders")
    return below


def require_distinct(folders: Sequence[Folder]) -> None:
    by_number: dict[int, Folder] = {}
    for folder in folders:
        other = by_number.setdefault(folder.recipe.id, folder)
        if other is not folder:
            free = max(by_number) + 1
            raise FieldError(
                folder.path / RECIPE,
                "id",
                f"{folder.recipe.id} is also the id of {other.path / RECIPE}",
                f"give one of them another, such as {free}",
                free,
            )


def _load(file: Path) -> Any:
    try:
        return yaml_input.parse(foreign.read(file, MOST_RECIPE_BYTES), file)
    except FileNotFoundError as error:
        raise LmrError(f"there is no {file}", "docs/recipes.md describes recipes") from error


def _problems(folder: Folder) -> Iterator[Problem]:
    yield from outside(folder.path, folder.recipe)
    yield from special(folder.path, folder.recipe)
    paper, repository = folder.recipe.paper, folder.recipe.repository
    if paper.is_file:
        if not (folder.path / paper.source).is_file():
            yield (
                "paper.source",
                f"there is no {paper.source} in the recipe's folder",
                "add it, or name a URL",
            )
        if not paper.url:
            yield "paper.url", "the paper's address is missing", "add it: info.json has to name it"
    if bool(repository.commit) == bool(repository.files):
        hint = "give the full commit (40 digits), or a folder of code in the recipe's folder"
        yield "repository", "needs one of `commit` and `files`", hint
    if repository.patch:
        if repository.files:
            yield "repository.patch", "`files` is your own code", "change it there, and remove the patch"
        if (
            foreign.read_inside(str(folder.path.resolve()), folder.path / repository.patch, MOST_PATCH_BYTES)
            is None
        ):
            problem = f"there is no file {repository.patch} in the recipe's folder"
            yield "repository.patch", problem, "add a unified diff of at most 1 MB, as from `git diff`"
    if len(repository.patch_reason.split()) < SENTENCE and repository.patch:
        yield "repository.patch_reason", "is missing", "explain in a sentence why the code is patched"
    if repository.files:
        if not (folder.path / repository.files).is_dir():
            problem = f"there is no folder {repository.files} in the recipe's folder"
            yield "repository.files", problem, "check its name"
        for name in ("author", "email", "date", "message"):
            if not getattr(repository, name):
                hint = "the commit of `files` needs it to be reproducible"
                yield f"repository.{name}", "is missing", hint
    for number, target in enumerate(folder.recipe.targets):
        for name, problem, hint in _target_problems(folder, number + 1, target):
            yield f"targets[{number}].{name}", problem, hint


def _target_problems(folder: Folder, index: int, target: TargetPart) -> Iterator[Problem]:
    try:
        Target.parse(target.target)
    except LmrError as error:
        yield "target", error.message, error.hint
    try:
        require_category(target.category)
    except LmrError as error:
        yield "category", error.message, error.hint
    record = target.record
    if bool(record.examples) == bool(record.from_tests or record.command):
        yield (
            "record",
            "needs one of `command`, `from_tests` and `examples`",
            "describe how to call the target",
        )
    try:
        _ = record.words
    except ValueError as error:
        yield "record.command", str(error), "close its quotes"
    files_there = {path.stem for path in (folder.path / "answers" / str(index)).glob("*.py")}
    for name in sorted(target.answers.keys() - files_there):
        problem = f"there is no answers/{index}/{name}.py"
        yield f"answers.{name}", problem, "write the answer there, or remove its name"
    for name in sorted(files_there.difference(target.answers)):
        yield "answers", f"answers/{index}/{name}.py is not among them", f"add it, as in {name}: failed"


def files_beside(folder: Folder) -> list[Path]:
    """Return the files that recording may use: the recipe's scripts, ``data/``, and files in commands."""
    paths = {*folder.path.glob("*.py"), *files.walk(folder.path / "data")}
    for target in folder.recipe.targets:
        for word in target.record.words:
            if not re.match(r"[-/~]|\.\.", word) and (folder.path / word).is_file():
                paths.add(folder.path / word)
    return sorted(paths)


def script_in(command: Sequence[str]) -> str:
    return next((word for word in command if word.endswith(".py")), "")


def plain(part: Any) -> Any:
    """Return a part of a recipe as plain data, without defaults."""
    if isinstance(part, Mapping):
        return {key: plain(value) for key, value in part.items()}
    if isinstance(part, tuple):
        return [plain(entry) for entry in part]
    if not dataclasses.is_dataclass(part):
        return part
    values = {entry.name: (getattr(part, entry.name), entry.default) for entry in dataclasses.fields(part)}
    return {
        name: plain(value)
        for name, (value, default) in values.items()
        if value != default and value not in ((), {}, "", None)
    }

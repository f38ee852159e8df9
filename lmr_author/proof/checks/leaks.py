"""LMR4xx: the solution is readable in the agent's tree. The search is :mod:`lmr_author.proof.leaks.tree`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lmr_author.proof.checks import dockerfile
from lmr_author.proof.checks.base import WARNING, Problem, check
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.leaks import tree
from lmr_author.proof.leaks.tree import FileLeak


def _problems(task: TaskContents, leaks: Iterable[FileLeak], *, folded: bool = False) -> Iterator[Problem]:
    for leak in leaks:
        yield Problem(
            leak.message,
            leak.hint,
            leak.file(task),
            leak.line,
            target=leak.implementation,
            severity=leak.severity,
            kind=leak.form if folded else "",
        )


@check(
    "LMR401",
    "a compiled file contains the solution",
    rationale="Python writes `__pycache__` whenever the golden runs in the repository, and a `.pyc` decompiles in"
    " seconds. 13 of 29 published tasks ship one. The names in it are compared: a `.pyc` of the masked file is not a"
    " leak.",
)
def compiled_solution(task: TaskContents) -> Iterator[Problem]:
    yield from _problems(task, tree.compiled_solutions(task), folded=True)


@check(
    "LMR402",
    "the repository contains its version history",
    rationale="`git show HEAD:trainers.py` prints the solution, and agents do restore originals from the history.",
)
def version_history(task: TaskContents) -> Iterator[Problem]:
    yield from _problems(task, tree.version_histories(task), folded=True)


@check(
    "LMR403",
    "the repository contains the solution elsewhere",
    rationale="An upstream module, a notebook, a fork of a library, a nested copy, a backup, a patch: an agent that"
    " searches for the function's name finds the answer. The check compares statements, also with renamed variables,"
    " in Python files, comments, notebooks, documents and patches. A look-alike is a warning, or a note if less than"
    " 85 % is the same.",
)
def copy_elsewhere(task: TaskContents) -> Iterator[Problem]:
    yield from _problems(task, tree.copies(task))


@check(
    "LMR404",
    "the goal file's comments contain the solution",
    rationale="Commenting the body out does not mask it: the agent only has to remove the #.",
)
def solution_in_comments(task: TaskContents) -> Iterator[Problem]:
    yield from _problems(task, tree.comments(task))


@check(
    "LMR405",
    "the golden or authoring records are inside the repository",
    rationale="The agent gets the repository. Agents opened the golden in 10 of 74 published runs in which they could.",
)
def golden_inside(task: TaskContents) -> Iterator[Problem]:
    yield from _problems(task, tree.golden_folders(task), folded=True)


@check(
    "LMR406",
    "the image installs the package that contains the solution",
    rationale="With the published package in site-packages the solution is one `inspect.getsource` away, and a test may"
    " import it instead of the goal file. If only the package's name matches, without a build file that confirms it,"
    " it may be somebody else's: a warning.",
)
def package_installed(task: TaskContents) -> Iterator[Problem]:
    parsed, names = dockerfile.read(task), dockerfile.published(task)
    installed: set[int] = set()
    for instruction, requirement in dockerfile.requirements(task, parsed) if parsed else ():
        sure = names.contains(requirement)
        if sure is None:
            continue
        installed.add(instruction.line)
        source = "" if requirement in instruction.text else " (from a requirements file)"
        which = "the package" if sure else "judging by its name the package"
        message = f"installs {requirement!r:.100}, {which} that contains the solution{source}"
        hint = "remove it; the tests import the repository's own files"
        hint = hint if sure else f"if it is the authors' package, {hint}"
        yield Problem(message, hint, "Dockerfile", instruction.line, severity=None if sure else WARNING)
    for instruction in parsed.named("RUN", "ADD") if parsed else ():
        if instruction.line not in installed and names.is_fetched_by(instruction.text):
            hint = "remove it; the image gets the masked repository by COPY"
            yield Problem(
                f"fetches the original repository, {names.address}", hint, "Dockerfile", instruction.line
            )

"""Prompts: of models that answer at once, of agents, and of the model that judges."""

from __future__ import annotations

import ast
import copy
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core import code, files, resources
from lmr_author.core.code import FunctionNode
from lmr_author.core.errors import LmrError
from lmr_author.core.task import UNIT_TEST, Implementation, Task, TaskInfo
from lmr_author.core.task.reviews import GRADES
from lmr_author.release.analysis.grades import grade_of
from lmr_author.release.analysis.model_input import ModelInput
from lmr_author.release.export.output import render
from lmr_author.release.review.score import Candidate
from lmr_author.runtime.environment.where import find_versions, in_words
from lmr_author.runtime.replay.staging import tree_path

CHARACTERS = 3.5
"""Characters of a token, on average over papers and code: real tokenizers would have to be downloaded."""

JUDGES = {"function": "models/judge.md.j2", "paper": "models/judge-paper.md.j2"}
"""Prompts of the judge."""

Page = tuple[str, str]
"""Its number and its text."""


@dataclass(frozen=True)
class Prompt:
    """A prompt.

    Attributes:
        cut: a remark on the pages that were cut; "" when all are in it.
    """

    text: str
    cut: str


def prompting(
    task: Task, info: TaskInfo, implementation: Implementation, model_input: ModelInput, tokens: int
) -> Prompt:
    """Write the prompt of one request, in the manner of LMR-Bench's appendix D.

    The last pages of the paper are cut where its text would have more than ``tokens``.
    """
    paths = [implementation.goal_file] if "goal" in model_input else []
    if "whole" in model_input:
        paths += _python_files(task.repository(info))
    elif model_input.has_tree:
        paths += _context(task, info, implementation)
    shown_files = [(path, _read(task, info, path)) for path in dict.fromkeys(paths)]

    def write(shown_pages: Sequence[Page], cut: str) -> str:
        return render(
            "models/prompting.md.j2",
            info=info,
            item=implementation,
            given=model_input,
            paper=model_input.has_paper,
            pages=shown_pages,
            cut=f"{cut} to fit {tokens} tokens" if cut else "",
            files=shown_files,
            goal_given=bool(shown_files),
            signature=signature(task, info, implementation),
            versions=in_words(find_versions(task)),
        )

    text, cut = fit_pages(pages(task, info) if "paper" in model_input else [], tokens, write)
    return Prompt(text, f"{cut} to fit {tokens} tokens" if cut else "")


def fit_pages(
    paper: Sequence[Page], tokens: int, write: Callable[[Sequence[Page], str], str]
) -> tuple[str, str]:
    """Write a prompt with as many pages as fit; return it, and a remark on the pages that were cut.

    Args:
        write: makes the prompt from the first pages and that remark, which is "" where all are in it.
    """
    text, cut = write(paper, ""), ""
    for number in reversed(range(len(paper))):
        if len(text) <= tokens * CHARACTERS:
            break
        cut = f"Pages {number + 1} to {len(paper)} of {len(paper)} are cut"
        text = write(paper[:number], cut)
    return text, cut


def agent(
    task: Task,
    info: TaskInfo,
    implementation: Implementation,
    model_input: ModelInput,
    base_image: str = "",
) -> str:
    """Write the instruction of an agent. ``base_image``: of its container, in place of the Dockerfile's."""
    repository = tree_path(info)
    return render(
        "models/agent.md.j2",
        info=info,
        item=implementation,
        given=model_input,
        whole=model_input.has_tree,
        repository=repository,
        path=f"{repository}/{implementation.goal_file}",
        signature=signature(task, info, implementation),
        versions=in_words(find_versions(task, base_image)),
    )


def judging(info: TaskInfo, candidate: Candidate, prompt: str = "function") -> tuple[str, str]:
    """Write the prompt of the model that grades an answer; return its version, too.

    Args:
        prompt: ``function`` compares the functions; ``paper`` whole files, in the form of LMR-Bench's appendix C.
    """
    if prompt not in JUDGES:
        raise LmrError(f"there is no prompt {prompt!r}", f"one of: {', '.join(JUDGES)}")
    name = JUDGES[prompt]
    answer, golden = candidate.whole if prompt == "paper" else (candidate.text, candidate.golden)
    text = render(
        name,
        info=info,
        item=candidate.implementation,
        golden=golden,
        answer=answer,
        # The answer cannot close a fence that it does not know.
        fence=f"=== {secrets.token_hex(8)} ===",
        grades=[(grade_of(grade), grade.replace("-", " "), meaning) for grade, meaning in GRADES.items()],
        meanings=GRADES,
    )
    return text, f"{prompt}@{files.sha256_bytes(resources.template(name).encode())[:12]}"


def signature(task: Task, info: TaskInfo, implementation: Implementation) -> str:
    """Return the target's header and docstring, without the comment on how to implement it."""
    goal = code.Module.parse(task.goal(info, implementation).read_bytes(), implementation.goal_file)
    node = copy.deepcopy(code.find(goal, implementation.target).node)
    for function in ast.walk(node):
        if isinstance(function, FunctionNode):
            has_docstring = ast.get_docstring(function) is not None
            function.body = [function.body[0] if has_docstring else ast.Expr(ast.Constant(...))]
    text = ast.unparse(node)
    for name in reversed(implementation.class_name.split(".") if implementation.class_name else []):
        text = f"class {name}:\n" + "\n".join(f"    {line}".rstrip() for line in text.splitlines())
    return text


def pages(task: Task, info: TaskInfo) -> list[Page]:
    """Return the paper's pages. Raises LmrError when there is no paper.json, or nothing in it."""
    path = task.paper_json(info)
    read = files.read_json(path) if path.is_file() else None
    if not isinstance(read, dict) or not read:
        raise LmrError(f"{task.name} has no pages in {path.name}", "run `lmr-author validate`")
    return [(str(number), str(text)) for number, text in read.items()]


def beside(task: Task, info: TaskInfo, implementation: Implementation) -> list[Page]:
    """Return path and text of the files that ``info.json`` names as context of an implementation."""
    return [(path, _read(task, info, path)) for path in _context(task, info, implementation)]


def _context(task: Task, info: TaskInfo, implementation: Implementation) -> list[str]:
    repository = task.repository(info)
    return [path for path in implementation.retrieval_context if files.is_file_inside(repository, path)]


def _python_files(repository: Path) -> list[str]:
    paths = (path.relative_to(repository) for path in files.walk(repository) if path.suffix == ".py")
    return [path.as_posix() for path in paths if path.parts[0] != UNIT_TEST]


def _read(task: Task, info: TaskInfo, path: str) -> str:
    return files.inside(task.repository(info), path).read_text("utf-8", errors="replace").rstrip()

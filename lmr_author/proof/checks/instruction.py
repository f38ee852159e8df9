"""LMR6xx: the instruction to the agent."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterable, Iterator

from lmr_author.core.code import FunctionNode, each
from lmr_author.core.paper.parts import missing_parts, missing_works
from lmr_author.core.task import INFO, Implementation, Severity
from lmr_author.core.task.info import clean_path, context_key
from lmr_author.proof.checks.base import (
    NOTE,
    WARNING,
    Check,
    Problem,
    closest_names_hint,
    similar_path,
    target_check,
)
from lmr_author.proof.checks.paper import paper_pages
from lmr_author.proof.contents import TaskContents, once
from lmr_author.proof.retrieval import propose
from lmr_author.proof.targets import definitions_of, leaves, pair, statements

GAP = "[to fill in: what it computes]"
"""Placeholder in a drafted instruction if the function's purpose is unknown."""

InstructionRule = Callable[[TaskContents, Implementation], Iterable[tuple[str, str]]]


def _instruction_check(
    code: str, title: str, *, rationale: str, severity: Severity = Severity.ERROR
) -> Callable[[InstructionRule], Check]:
    def decorate(rule: InstructionRule) -> Check:
        def problems(task: TaskContents, target: Implementation) -> Iterator[Problem]:
            pointer = task.pointer(target, "instruction" if target.instruction else "")
            for message, hint in rule(task, target):
                yield Problem(message, hint, INFO, pointer=pointer)

        return target_check(code, title, rationale=rationale, severity=severity)(problems)

    return decorate


_PLACEHOLDER = re.compile(
    r"^\W*(?:todo|tbd|fixme|xxx|placeholder|lorem ipsum)\b|\{\{[^}]*\}\}"
    r"|[\[<](?:to fill in|fill in|insert|todo|describe|your)\b[^\]>]*[\]>]",
    re.IGNORECASE,
)
_CUT_OFF = re.compile(
    r"(?:(?<!etc)(?<!etc,)(?<!\[)(?:\.\.\.|…)|[,(]|\s(?:the|an?|of|in|to|and|or|with|for|by|as|that|which|is))\s*$",
    re.IGNORECASE,
)
"""The end of a text that was cut off in mid-sentence."""


def _which(task: TaskContents, target: Implementation) -> str:
    return f" --implementation {target.index}" if len(task.implementations) > 1 else ""


@_instruction_check(
    "LMR601",
    "the instruction is missing or unfinished",
    rationale="Besides the paper and the code, the agent gets only the instruction.",
)
def instruction_present(task: TaskContents, target: Implementation) -> Iterator[tuple[str, str]]:
    text = target.instruction.strip()
    placeholder = _PLACEHOLDER.search(text)
    hint = "name the function to implement, its file, and the part of the paper that describes it"
    if not text:
        yield "the instruction is missing or empty", hint
    elif GAP in text:
        hint = (
            f"replace {GAP!r} in the paper's words: `lmr-author set{_which(task, target)} instruction=@FILE`"
        )
        yield "the instruction still has the placeholder of its draft", hint
    elif placeholder:
        yield f"the instruction contains a placeholder: {placeholder[0][:60]!r}", hint
    elif len(text.split()) < 3:
        yield f"the instruction is only {text[:40]!r}", hint
    elif _CUT_OFF.search(text):
        yield f"the instruction is cut off after {text[-40:]!r}", "complete the sentence"


_FILE = re.compile(
    r"(?<![\w/.@:-])((?:[\w.-]+[/\\])*[\w-][\w.-]*\.(?:py|ipynb|pdf|json|ya?ml|txt|md|sh|cfg|toml))(?![\w/])"
    r"|(?<![\w.:/])/(?:[\w.-]+/)+([\w-][\w.-]*\.(?:py|ipynb|pdf))(?![\w/])"
    r"|(?<![\w./])(paper\.[a-z]{2,5})\b"
)
_PLACE = r"\b(?:in|inside|into|edit|modify|complete|open|of|finish|fill)\s+(?:the\s+)?(?:file\s+)?[`'\"(]*(?:[\w.-]+/)*"
"""Words before the name of the file to edit."""


@_instruction_check(
    "LMR602",
    "the instruction names a wrong file",
    rationale="An agent that is sent to a missing file searches for it or creates it; one that is sent to the test"
    " edits the test.",
)
def instruction_files(task: TaskContents, target: Implementation) -> Iterator[tuple[str, str]]:
    if task.repository is None:
        return
    text = re.sub(r"\b\w+://\S+|\bwww\.\S+", " ", target.instruction)
    paths: dict[str, bool] = {}
    for match in _FILE.finditer(text):
        path = clean_path(match[match.lastindex or 0]).removeprefix(f"{task.repository.name}/")
        paths[path] = _exists(task, path)
    for path in (path for path, exists in paths.items() if not exists):
        is_near = closest_names_hint(path, list(task.repository_files), 0.8)
        if is_near or path.endswith((".py", ".pdf", ".ipynb")):  # others may be output files
            yield f"the instruction names {path}, which does not exist", similar_path(task, path, "")
    goal = task.in_repository_path(pair(task, target).goal_path)
    if goal and not goal.startswith("unit_test/") and not goal.endswith(tuple(paths)):
        others = [path for path, exists in paths.items() if exists and _is_goal_in(text, path, goal)]
        for path in others[:1]:
            yield f"the instruction names {path}, goal_file is {goal}", f"name {goal}"


def _is_goal_in(text: str, path: str, goal: str) -> bool:
    name = path.rpartition("/")[2]
    if not name.endswith(".py"):
        return False
    return goal.endswith(f"/{name}") or re.search(_PLACE + re.escape(name), text, re.IGNORECASE) is not None


def _exists(task: TaskContents, path: str) -> bool:
    if path in ("paper.pdf", "paper.json") or path in task.by_path:
        return True
    return any(f"/{other}".endswith(f"/{path}") for other in task.repository_files)


_NAME = r"([A-Za-z_][\w.]*[A-Za-z0-9_])"
_QUOTED_NAME = rf"[`'\"*]+(?:def\s+)?{_NAME}(?:\([^)`]*\))?[`'\"*]+"
_PLAIN_NAME = r"([A-Za-z]\w*_\w+|\w+\.\w+)"
_KIND = r"(?:function|method|class)"
_VERB = r"\b(?:implement|complete|write|finish|fill in|mask|code)"
_NAMING = re.compile(
    rf"\b{_KIND}\s*:?\s+(?:called\s+|named\s+)?(?:def\s+)?[`'\"*]*{_NAME}"
    rf"|(?:{_QUOTED_NAME}|{_VERB}\b[^.\n]{{0,40}}?\s{_PLAIN_NAME})\s+(?:{_KIND}s?|classes)\b"
    rf"|{_VERB}\w*\s+(?:out\s+)?(?:the\s+|a\s+)?(?:body of\s+)?(?:the\s+)?(?:{_QUOTED_NAME}|([A-Za-z]\w*_\w+)\b)"
    r"|(?<![\w.])([A-Za-z_]\w*_\w+)\(\)",
    re.IGNORECASE,
)
"""A function's name: beside the word "function", as a verb's object, or as a call."""


@_instruction_check(
    "LMR603",
    "the instruction names a function that does not exist",
    rationale="With a renamed or misspelt name, the agent edits another function, or writes a new one that nothing"
    " calls.",
)
def instruction_names(task: TaskContents, target: Implementation) -> Iterator[tuple[str, str]]:
    for name, hint in _unknown_names(task, target):
        yield f"the instruction names {name}, which the repository does not contain", hint


def _unknown_names(task: TaskContents, target: Implementation) -> list[tuple[str, str]]:
    files, text = pair(task, target), target.instruction
    if task.repository is None or (files.goal is None and files.golden is None):
        return []
    targets = target.function_names
    names = [*targets, *(definition.qualname for definition in definitions_of(files.goal))]
    unknown = {}
    for match in _NAMING.finditer(text):
        full = match[match.lastindex or 0]
        name = full.rpartition(".")[2]
        looks_like_code = re.search(r"\w_\w|[a-z][A-Z]|\w\.\w", full) or f"`{name}" in text
        if len(name) >= 4 and looks_like_code and not _occurs(task, name):
            unknown[name] = (
                closest_names_hint(name, names, 0.5) or f"name {next(iter(targets), 'the target')}"
            )
    return list(unknown.items())


_SEARCHED = frozenset((".py", ".ipynb", ".pyi", ".yaml", ".yml", ".sh", ".md"))


@once
def _occurs(task: TaskContents, name: str) -> bool:
    wanted = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)")
    for entry in task.repository_files.values():
        is_searched = entry.suffix in _SEARCHED or entry.name == "paper.json"
        if is_searched and wanted.search(task.read_entry(entry, 4 * 1024 * 1024) or b""):
            return True
    return False


_TESTS = (
    r"(?:unit[ _-]?tests?(?:[ _-](?:cases?|suite|script))?|\w*test_\w+\.py|\w+_test\.py|logs?(?:\s\S+\.log)?|assertions"
    r"|tests?(?: cases?| suite)?(?=\s*(?:[.,;:!?)'/]|$|(?:and|in|of|when|must|should|will|to|pass\w*|may|can|all)\b)))"
)
_PASS = re.compile(
    rf"\b(?:pass(?:es|ing)?|satisf(?:y|ies)|match)\b(?:[\s'(]+[\w/]+){{0,4}}?[\s'/]+{_TESTS}\b"
    rf"|\b{_TESTS}'?\s+(?:\w+\s+){{0,3}}?(?:pass(?:es|ed)?|fails?|succeeds?|green|exits?|ends?|hold)\b"
    rf"|\b(?:{_TESTS}|script|it)\s+(?:\w+\s+)?(?:prints?|says?|logs?|reports?|outputs?|contains?)\s+'?passed"
    r"|\buntil\s+(?:it|they|everything)\s+pass(?:es)?\b",
    re.IGNORECASE,
)


@_instruction_check(
    "LMR604",
    "the instruction asks to pass a test",
    rationale="An agent told to pass the test optimises for the test, with special cases or edits of the test itself.",
    severity=WARNING,
)
def implement_the_paper(task: TaskContents, target: Implementation) -> Iterator[tuple[str, str]]:
    match = _PASS.search(re.sub(r"[`\"]|\*\*", "", target.instruction))
    if match:
        yield (
            f"the instruction asks to pass a test: {match[0][:80]!r}",
            "ask for the method that the paper describes",
        )


@target_check(
    "LMR605",
    "a path of retrieval_context does not exist",
    rationale="These files become part of the prompt. A missing one is silently skipped, or stops the run.",
)
def retrieval_paths(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    repository = task.repository
    if repository is None:
        return
    key = next((context_key(entry) for _, other, entry in task.numbered if other is target), "")
    for number, text in enumerate(target.retrieval_context):
        path = clean_path(text).partition("::")[0]
        spellings = (path, path.removeprefix(f"{repository.name}/"))
        if not path:
            message, hint = "has an entry that is not a path", "name a file of the repository"
        elif leaves(task, repository, path):
            message, hint = f"{text!r:.100} leaves the repository", "write a path relative to the repository"
        elif not any(task.exists(repository / spelling) for spelling in spellings):
            message, hint = f"{text!r:.100} does not exist", similar_path(task, path, "")
        else:
            continue
        yield Problem(f"{key} {message}", hint, INFO, pointer=task.pointer(target, f"{key}/{number}"))


@_instruction_check(
    "LMR606",
    "the instruction does not name the function",
    rationale="A file can contain several masked functions. An agent that reads only \u201cthe loss\u201d has to guess"
    " which one is meant.",
    severity=WARNING,
)
def names_the_target(task: TaskContents, target: Implementation) -> Iterator[tuple[str, str]]:
    sharing = [other for other in task.implementations if other.goal_file == target.goal_file]
    names, functions = target.function_names, pair(task, target).complete
    if len(sharing) < 2 or not functions or not names or len(target.instruction.split()) < 3:
        return
    wanted = {*names, *(golden.name for golden, _, _ in functions)}
    if wanted & {"forward", "__call__", "__init__"}:
        wanted.add(target.class_name.rpartition(".")[2])
    is_named = not wanted.isdisjoint(re.findall(r"\w+", target.instruction))
    if not is_named and not _unknown_names(task, target):  # LMR603 reports a misspelt one
        yield f"the instruction does not name {names[0]}", f"name it: `{names[0]}`"


@_instruction_check(
    "LMR607",
    "the instruction quotes the solution",
    rationale="An agent should work from the paper. If the instruction contains a line of the original, it just copies"
    " it.",
    severity=WARNING,
)
def body_not_given_away(task: TaskContents, target: Implementation) -> Iterator[tuple[str, str]]:
    quoted: list[str] = []
    for golden, _, _ in pair(task, target).complete:
        quoted += quotations(golden, target.instruction)
    if quoted:
        longest = max(quoted, key=len)
        hint = "describe what it does, or name the paper's equation"
        yield f"the instruction quotes the solution: {longest[:80]!r}", hint


@_instruction_check(
    "LMR608",
    "the instruction names a part that the paper does not have",
    rationale="An agent that is sent to equation (31) of a paper with six equations has to guess. Kinds of parts that"
    " the paper's text does not number are not checked.",
    severity=WARNING,
)
def parts_of_the_paper(task: TaskContents, target: Implementation) -> Iterator[tuple[str, str]]:
    for part in missing_parts(target.instruction, paper_pages(task)):
        hint = "name the part by its number in paper.pdf"
        yield f"the instruction names {part}, which the paper does not have", hint


@target_check(
    "LMR609",
    "retrieval_context lacks a file that the golden uses",
    rationale="A model that is only prompted sees just the goal file and these files. It would have to guess the code"
    " that the golden calls in other files.",
    severity=NOTE,
)
def context_is_complete(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    files, repository = pair(task, target), task.repository
    goal = task.in_repository_path(files.goal_path)
    if repository is None or files.golden is None or not goal:
        return
    listed = list(map(clean_path, target.retrieval_context))
    missing: dict[str, str] = {}
    for golden in filter(None, (both.golden for both in files.targets)):
        for file in propose(repository, files.golden, golden, goal):
            spellings = file.path, f"{repository.name}/{file.path}"
            if not any(path == name or path.startswith(f"{name}/") for name in listed for path in spellings):
                missing.setdefault(file.path, file.reasons[0])
    which = _which(task, target)
    hint = f"`lmr-author set{which} {shlex.quote('retrieval=' + ','.join([*listed, *missing]))}` adds what is missing"
    for path, reason in missing.items():
        message = f"the golden uses {path} ({reason}), which is not in retrieval_context"
        yield Problem(message, hint, INFO, pointer=task.pointer(target))


@_instruction_check(
    "LMR610",
    "the instruction cites a work that the paper does not",
    rationale="An agent has only the paper. A wrong author or year refers to a work that is not in the bibliography,"
    " or does not exist. A year may be off by one, as for a preprint.",
    severity=WARNING,
)
def works_of_the_paper(task: TaskContents, target: Implementation) -> Iterator[tuple[str, str]]:
    for work in missing_works(target.instruction, paper_pages(task), task.info.year):
        hint = "cite it as the paper does, or remove it"
        yield f"the instruction cites {work}, which the paper's text does not", hint


_STEPS = (ast.BinOp, ast.Call, ast.Compare, ast.comprehension)
_SHORTEST = 20
"""Shorter expressions (characters without spaces) give nothing away."""


def quotations(golden: FunctionNode, text: str) -> list[str]:
    """Return the expressions of a body that a text quotes, ignoring layout."""
    squeezed = _squeezed(text)
    quoted = []
    for statement in statements(golden):
        for node in each(statement, *_STEPS):
            if len(each(node, *_STEPS)) < 2:
                continue  # an instruction may have to state a single step (`RandomState(1)`)
            if any(name.id not in squeezed for name in each(node, ast.Name)):
                continue  # unparsing every expression would be slow
            code = ast.unparse(node)
            if len(_squeezed(code)) >= _SHORTEST and _squeezed(code) in squeezed:
                quoted.append(code)
    return quoted


def _squeezed(text: str) -> str:
    return re.sub(r"[\s`'\"]+", "", text)

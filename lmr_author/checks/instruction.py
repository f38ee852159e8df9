"""LMR601–605: what the agent is told, and what it is told to read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_task import INSTRUCTION
from lmr_author.checks.lookup import clean_path, did_you_mean, function_names, pair
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity

_FILE = re.compile(
    r"(?<![\w/.@:-])((?:[\w.-]+[/\\])*[\w-][\w.-]*\.(?:py|ipynb|pdf|json|ya?ml|txt|md|sh|cfg|toml))(?![\w/])"
)

_FOLDER = re.compile(r"(?<![\w/.@:<-])(\.{0,2}/?(?:[\w.-]+/)+[\w.-]*)(?![\w/])")

_NAMED = re.compile(
    r"\b(?:implement|complete|write|finish|fill in|mask|code)\w*\s+(?:out\s+)?(?:the\s+|a\s+)?(?:body"
    r" of\s+)?(?:the\s+)?"
    r"(?:\w+\s+)?(?:function|method|class)\s+(?:called\s+|named\s+)?[`'\"*]*([A-Za-z_][\w.]*[A-Za-z0-9_])",
    re.IGNORECASE,
)

_QUOTED = re.compile(
    r"\b(?:implement|complete|write|finish|fill in)\w*\s+(?:out\s+)?(?:the\s+)?(?:body of\s+)?(?:the\s+)?"
    r"[`'\"*]+([A-Za-z_][\w.]*)(?:\(\))?[`'\"*]",
    re.IGNORECASE,
)

_BEFORE = re.compile(r"[`'\"*]+([A-Za-z_][\w.]*)(?:\(\))?[`'\"*]+\s+(?:function|method|class)\b")

_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*_\w+)\(\)")

_TESTS = (
    r"(?:(?:unit[ _-]?tests?|tests|test cases?|unit_test\w*(?:\.py)?)\b(?!\s*-?(?:data|set|split))"
    r"|test\b(?=\s*(?:[.,;:!?)`'\"]|$|(?:and|in|of|for|with|when|file|script|suite|it|by|without)\b)))"
)

_WHICH = (
    r"(?:(?:all|the|this|that|these|our|your|its|every|each|any|given|provided|corresponding|following|of|in"
    r"|hidden|[`'\"(/.]|unit_test/)\s*)*"
)

_PASS = re.compile(
    rf"\b(?:pass|passes|passing|satisf(?:y|ies|ying)|succeeds? (?:in|on))\s+{_WHICH}{_TESTS}"
    rf"|\b(?:{_TESTS}|logs?|script)[`'\"]*\s+(?:then |must |should |will )*"
    rf"(?:prints?|says?|shows?|reports?|outputs?|logs?)\s+[`'\"]*pass(?:ed|es)?\b"
    rf"|\b(?:should|must|has to|needs to)\s+(?:print|output|log|say|report)\s+[`'\"]*passed\b"
    rf"|\b(?:get|make|makes|making)\s+{_WHICH}{_TESTS}\s+pass\b"
    rf"|\b{_TESTS}\s+(?:will |must |should |can |to |all |then )*(?:pass|passes|passed|succeeds?)\b",
    re.IGNORECASE,
)

_NOT_A_NAME = frozenset(
    [
        "that",
        "which",
        "to",
        "for",
        "of",
        "in",
        "is",
        "as",
        "from",
        "with",
        "by",
        "based",
        "according",
        "below",
        "above",
        "described",
        "used",
        "and",
        "the",
        "this",
        "it",
    ]
)


def told(text: str) -> dict[str, object]:
    """The change of the instruction."""
    return {"instruction": text}


class InstructionCheck(ImplementationCheck):
    """A check that reads the instruction."""

    def at(self, view: TaskView, implementation: Implementation, message: str, hint: str) -> Finding:
        """A finding that points at the instruction."""
        position = view.position(implementation)
        pointer = f"/implementations/{position}" + ("/instruction" if implementation.instruction else "")
        return self.finding(
            view, message, hint, implementation=implementation, path="info.json", pointer=pointer
        )


class InstructionThere(InstructionCheck):
    """LMR601."""

    code = "LMR601"
    title = "there is an instruction"
    rationale = "The instruction is all that an agent is told besides the paper and the code."
    failing = (
        Example("missing", implementation={"instruction": None}),
        Example("empty", implementation=told("  ")),
        Example("a placeholder", implementation=told("TODO")),
    )
    passing = (
        Example(
            "a sentence",
            implementation=told("Implement the function `pairwise_loss` as section 3 describes it."),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        text = implementation.instruction.strip()
        if not text or len(text.split()) < 3 or text.upper().startswith(("TODO", "TBD", "FIXME", "XXX")):
            message = (
                "the instruction is missing or empty"
                if not text
                else f"the instruction says only {text[:40]!r}"
            )
            yield self.at(
                view,
                implementation,
                message,
                "say which function to implement, in which file, from which part of the paper",
            )


class InstructionFiles(InstructionCheck):
    """LMR602."""

    code = "LMR602"
    title = "the files that the instruction names exist"
    rationale = (
        "An agent sent to a file that is not there searches, or makes one; a test in place of the goal file"
        " makes it edit the test."
    )
    failing = (
        Example(
            "a file that does not exist",
            implementation=told(INSTRUCTION.replace("ranking/losses.py", "ranking/loss_functions.py")),
        ),
        Example("a typing error", implementation=told(INSTRUCTION.replace("paper.pdf", "paerp.pdf"))),
        Example("a text with a typing error", implementation=told(INSTRUCTION + " See REDME.md.")),
        Example(
            "a wrong folder",
            implementation=told(INSTRUCTION.replace("ranking/losses.py", ".ranking/losses.py")),
        ),
        Example(
            "the unit test in place of the goal file",
            implementation=told(INSTRUCTION.replace("ranking/losses.py", "unit_test/unit_test_1.py")),
        ),
    )
    passing = (
        Example("a file to be written", implementation=told(INSTRUCTION + " Results go to scores.json.")),
        Example(
            "only the file's name", implementation=told(INSTRUCTION.replace("ranking/losses.py", "losses.py"))
        ),
        Example(
            "with the repository's folder",
            implementation=told(INSTRUCTION.replace("ranking/losses.py", "margin-ranking/ranking/losses.py")),
        ),
        Example(
            "an address",
            implementation=told(INSTRUCTION + " See https://example.org/files/other.pdf for a talk."),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each file, and one when only the test is named."""
        if view.repository is None:
            return
        text = re.sub(r"\b\w+://\S+|\bwww\.\S+", " ", implementation.instruction)
        names = view.memo(
            "repository files",
            lambda: [view.in_repository(item) for item in view.repository_entries if item.kind == "file"],
        )
        named = [clean_path(match) for match in dict.fromkeys(_FILE.findall(text))]
        papers = re.findall(r"(?<![\w./])paper\.[a-z]{2,5}\b", text)
        named += [
            token
            for token in papers
            if token not in named and did_you_mean(token, ["paper.pdf", "paper.json"], 0.8)
        ]
        for token in named:
            if self._exists(view, token, names) or token in ("paper.pdf", "paper.json"):  # LMR101
                continue
            hint = _closest(token, names)
            if hint or token.endswith((".py", ".pdf", ".ipynb")):
                yield self.at(
                    view,
                    implementation,
                    f"the instruction names {token}, which does not exist",
                    hint or "name a file of the repository",
                )
        yield from self._folders(view, implementation, text, named, names)
        goal, test = clean_path(implementation.goal_file), clean_path(implementation.unit_test_file)
        name = test.rpartition("/")[2]
        verb = r"\b(?:in|inside|into|edit|modify|complete|open|of|finish|fill)\s+(?:the\s+)?(?:file\s+)?"
        place = verb + r"[`'\"(]*(?:[\w.-]+/)*" + re.escape(name)
        meant = view.in_repository_path(pair(view, implementation).goal_path)
        goal_named = any((meant if goal == test else goal).endswith(token) for token in named)
        if name and not goal_named and re.search(place, text, re.IGNORECASE):
            message = f"the instruction names the unit test {test} and not the goal file"
            yield self.at(view, implementation, message, f"name {meant or goal}")

    @staticmethod
    def _exists(view: TaskView, token: str, names: list[str]) -> bool:
        assert view.repository is not None
        plain = token.removeprefix(f"{view.repository.name}/")
        if any(name == plain or name.endswith("/" + plain) for name in names):
            return True
        return any(entry.relative == token for entry in view.entries)

    def _folders(
        self, view: TaskView, implementation: Implementation, text: str, named: list[str], names: list[str]
    ) -> Iterator[Finding]:
        """Folders that do not exist, told only when they closely resemble one that does."""
        folders = {name.rpartition("/")[0] for name in names} | {
            "/".join(name.split("/")[:depth]) for name in names for depth in (1, 2)
        }
        known = sorted({name for name in folders if name} | set(names))
        for token in dict.fromkeys(_FOLDER.findall(text)):
            plain = clean_path(token).rstrip("/.").removeprefix(f"{view.info.repo_folder_name}/")
            if (
                len(plain) < 5
                or any(plain in name or name.endswith(plain) for name in [*known, *named])
                or _FILE.search(token)
            ):
                continue
            if any(entry.relative.rstrip("/") == plain for entry in view.entries):
                continue
            close = difflib.get_close_matches(plain, known, 1, 0.85)
            if close:
                yield self.at(
                    view,
                    implementation,
                    f"the instruction names {token}, which does not exist",
                    f"did you mean {close[0]}?",
                )


def _closest(token: str, names: list[str]) -> str:
    name = token.rpartition("/")[2]
    same = [path for path in names if path.rpartition("/")[2] == name]
    if same:
        return f"did you mean {same[0]}?"
    hint = did_you_mean(token, names, 0.8)
    if hint:
        return hint
    top = list(dict.fromkeys(path.rpartition("/")[2] for path in names))
    return did_you_mean(name, top, 0.72)


class InstructionNames(InstructionCheck):
    """LMR603."""

    code = "LMR603"
    title = "the functions that the instruction names exist"
    rationale = (
        "A renamed or misspelt function sends the agent to something else, or makes it write a new one that"
        " nobody calls."
    )
    failing = (
        Example(
            "another name",
            implementation=told(INSTRUCTION.replace("pairwise_loss", "pair_hinge_loss")),
        ),
        Example(
            "a typing error",
            implementation=told(INSTRUCTION.replace("pairwise_loss", "pairwise_los")),
        ),
        Example(
            "in quotes, without the word function",
            implementation=told(
                "Implement the `pairwise_objective` in `ranking/losses.py` as section 3 says."
            ),
        ),
    )
    passing = (
        Example(
            "a class's name with it",
            implementation=told(INSTRUCTION + " The class `ListLoss` stays as it is."),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each name."""
        one = pair(view, implementation)
        if view.repository is None or (one.goal is None and one.golden is None):
            return
        text = implementation.instruction
        found = [
            *_NAMED.findall(text),
            *_QUOTED.findall(text),
            *_BEFORE.findall(text),
            *_CALLED.findall(text),
        ]
        names = dict.fromkeys(name.rpartition(".")[2] for name in found)
        targets = list(function_names(implementation))
        for name in names:
            telling = "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name) or f"`{name}" in text
            if not telling or name.lower() in _NOT_A_NAME or len(name) < 4 or _known(view, name):
                continue
            hint = did_you_mean(
                name, targets + [item.qualname for item in (one.goal.definitions if one.goal else ())], 0.5
            )
            yield self.at(
                view,
                implementation,
                f"the instruction names {name}, which the repository does not have",
                hint or f"name {targets[0] if targets else 'the target'}",
            )


def _known(view: TaskView, name: str) -> bool:
    """Whether an identifier occurs anywhere in the repository's Python files."""
    wanted = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)")
    ordered = sorted(view.repository_entries, key=lambda entry: entry.relative.count("/"))
    for entry in ordered:
        if entry.kind == "file" and (
            entry.suffix in (".py", ".ipynb", ".pyi", ".yaml", ".yml", ".sh", ".md")
            or entry.name == "paper.json"
        ):
            data = view.read_once(view.path(entry), 4 * 1024 * 1024)
            if data and wanted.search(data):
                return True
    return False


class ImplementThePaper(InstructionCheck):
    """LMR604."""

    code = "LMR604"
    title = "the instruction asks for the paper's method, not for passing a test"
    rationale = (
        "An agent told to pass the test optimises for the test: special cases, or edits of the test itself."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "pass the test",
            implementation=told(INSTRUCTION + " Make sure that it passes unit_test/unit_test_1.py."),
        ),
        Example(
            "the test prints Passed",
            implementation=told(INSTRUCTION + " Make sure that unit_test/unit_test_1.py prints Passed."),
        ),
        Example(
            "make them pass", implementation=told(INSTRUCTION + " Your code has to make the unit tests pass.")
        ),
        Example(
            "the test has to pass",
            implementation=told(
                "Complete `pairwise_loss` in `ranking/losses.py` so that all unit tests pass."
            ),
        ),
    )
    passing = (
        Example(
            "it will be tested",
            implementation=told(INSTRUCTION + " Your implementation will be tested on recorded inputs."),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        match = _PASS.search(implementation.instruction)
        if match:
            yield self.at(
                view,
                implementation,
                f"the instruction asks to pass a test: {match[0][:80]!r}",
                "ask for what the paper describes",
            )

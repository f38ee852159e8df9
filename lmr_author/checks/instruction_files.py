"""LMR602: the files that the agent is sent to."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from lmr_author.checks.base import Example
from lmr_author.checks.example_texts import INSTRUCTION, REPOSITORY
from lmr_author.checks.instruction import InstructionCheck, told
from lmr_author.checks.lookup import clean_path, did_you_mean, unit_test_path
from lmr_author.checks.pairing import pair
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation

_FILE = re.compile(
    r"(?<![\w/.@:-])((?:[\w.-]+[/\\])*[\w-][\w.-]*\.(?:py|ipynb|pdf|json|ya?ml|txt|md|sh|cfg|toml))(?![\w/])"
)

_ABSOLUTE = re.compile(r"(?<![\w.:/])/(?:[\w.-]+/)+([\w-][\w.-]*\.(?:py|ipynb|pdf))(?![\w/])")

_FOLDER = re.compile(r"(?<![\w/.@:<-])(\.{0,2}/?(?:[\w.-]+/)+[\w.-]*)(?![\w/])")

_PLACE = r"\b(?:in|inside|into|edit|modify|complete|open|of|finish|fill)\s+(?:the\s+)?(?:file\s+)?[`'\"(]*(?:[\w.-]+/)*"
"""What stands before the file to be worked in."""


class InstructionFiles(InstructionCheck):
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
        Example(
            "another file of that name",
            implementation=told(INSTRUCTION.replace("ranking/losses.py", "older/losses.py")),
            files={f"{REPOSITORY}/older/losses.py": "MARGIN = 1.0\n"},
        ),
        Example(
            "another file of the repository",
            implementation=told(INSTRUCTION.replace("ranking/losses.py", "ranking/train.py")),
        ),
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
        Example(
            "another file beside the goal file",
            implementation=told(INSTRUCTION + " The data are read in ranking/train.py."),
        ),
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
        named = _named(text)
        for token in named:
            if self._exists(view, token) or token in ("paper.pdf", "paper.json"):  # LMR101
                continue
            hint = _closest(token, names, clean_path(implementation.goal_file))
            if hint or token.endswith((".py", ".pdf", ".ipynb")):
                yield self.at(
                    view,
                    implementation,
                    f"the instruction names {token}, which does not exist",
                    hint or "name a file of the repository",
                )
        yield from self._folders(view, implementation, text, named, names)
        yield from self._elsewhere(view, implementation, text, named, names)

    def _elsewhere(
        self, view: TaskView, implementation: Implementation, text: str, named: list[str], names: list[str]
    ) -> Iterator[Finding]:
        """At most one finding: the agent is sent to another file than the goal file."""
        assert view.repository is not None
        goal, test = clean_path(implementation.goal_file), clean_path(implementation.unit_test_file)
        real = view.in_repository_path(unit_test_path(view, implementation))
        if real and any(token.endswith(real.rpartition("/")[2]) for token in named):
            test = real  # unit_test_file is wrong, the instruction is not
        name = test.rpartition("/")[2]
        meant = view.in_repository_path(pair(view, implementation).goal_path)
        meant = "" if meant == test else meant
        goal_named = any((meant if goal == test else goal).endswith(token) for token in named)
        if name and not goal_named and re.search(_PLACE + re.escape(name), text, re.IGNORECASE):
            message = f"the instruction names the unit test {test} and not the goal file"
            hint = (
                f"name {meant or goal}" if meant or goal != test else "name the file that holds the function"
            )
            yield self.at(view, implementation, message, hint)
        elif meant and not meant.startswith("unit_test/") and not any(meant.endswith(one) for one in named):
            for token in named:
                plain = token.removeprefix(f"{view.repository.name}/")
                if plain not in names or plain == meant or not plain.endswith(".py"):
                    continue
                same = plain.rpartition("/")[2] == meant.rpartition("/")[2]
                if same or re.search(_PLACE + re.escape(plain.rpartition("/")[2]), text, re.IGNORECASE):
                    another = ", another file of that name" if same else ""
                    message = f"the instruction names {plain}, goal_file is {meant}{another}"
                    yield self.at(view, implementation, message, f"name {meant}")
                    return

    @staticmethod
    def _exists(view: TaskView, token: str) -> bool:
        assert view.repository is not None
        folder = view.relative_raw(view.repository)
        plain = token.removeprefix(f"{view.repository.name}/")
        places = (entry.relative for entry in view.named(plain.rpartition("/")[2]) if entry.kind == "file")
        return token in view.by_path or any(
            place.startswith(f"{folder}/") and place.endswith(f"/{plain}") for place in places
        )

    def _folders(
        self, view: TaskView, implementation: Implementation, text: str, named: list[str], names: list[str]
    ) -> Iterator[Finding]:
        """Folders that do not exist, told only when they closely resemble one that does."""
        together = "\n".join([*names, *named])
        for token in dict.fromkeys(_FOLDER.findall(text)):
            plain = clean_path(token).rstrip("/.").removeprefix(f"{view.info.repo_folder_name}/")
            if len(plain) < 5 or plain in together or _FILE.search(token) or plain in view.by_path:
                continue
            folders = {name.rpartition("/")[0] for name in names}
            folders |= {"/".join(folder.split("/")[:depth]) for folder in folders for depth in (1, 2)}
            known = sorted({name for name in folders if name} | set(names))
            close = difflib.get_close_matches(plain, known, 1, 0.85)
            if close:
                yield self.at(
                    view,
                    implementation,
                    f"the instruction names {token}, which does not exist",
                    f"did you mean {close[0]}?",
                )


def _named(text: str) -> list[str]:
    """The files that an instruction names."""
    named = [clean_path(match) for match in dict.fromkeys(_FILE.findall(text))]
    named += [name for name in _ABSOLUTE.findall(text) if name not in named]
    papers = re.findall(r"(?<![\w./])paper\.[a-z]{2,5}\b", text)
    known = ["paper.pdf", "paper.json"]
    return named + [token for token in papers if token not in named and did_you_mean(token, known, 0.8)]


def _closest(token: str, names: list[str], goal: str) -> str:
    """A hint with the file that is meant: the goal file, where it is in that folder and has such a name."""
    (folder, _, name), (own, _, goal_name) = token.rpartition("/"), goal.rpartition("/")
    if goal in names and own == folder and difflib.get_close_matches(name, [goal_name], 1, 0.6):
        return f"did you mean {goal}?"
    same = [path for path in names if path.rpartition("/")[2] == name]
    if same:
        return f"did you mean {same[0]}?"
    hint = did_you_mean(token, names, 0.8)
    if hint:
        return hint
    top = list(dict.fromkeys(path.rpartition("/")[2] for path in names))
    return did_you_mean(name, top, 0.72)

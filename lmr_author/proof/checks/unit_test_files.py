"""LMR501 and LMR508 to LMR514: where unit tests and recordings lie, and what they need from elsewhere."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from lmr_author.core.code import gpu_lines
from lmr_author.core.errors import LmrError
from lmr_author.core.task import INFO, Implementation, unit_test_name
from lmr_author.core.task.recording import MANIFEST, SUPPORT, Recording, tampered
from lmr_author.core.texts import printable
from lmr_author.proof.checks.base import WARNING, Problem, check, did_you_mean, target_check
from lmr_author.proof.checks.goal_files import syntax_error, wrong_path
from lmr_author.proof.checks.unit_test_code import UnitTest, read_test, test_check
from lmr_author.proof.contents import FileEntry, TaskContents, read_json
from lmr_author.proof.targets import names_unit_test, unit_test_path


@target_check(
    "LMR501",
    "the unit test is missing or cannot be parsed",
    rationale="Without its test an implementation cannot be scored. `unit_test.py` for `unit_test_1.py` is the usual"
    " slip.",
)
def test_exists(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    path = unit_test_path(task, target)
    tests = [name for name in task.repository_files if name.endswith(".py") and "unit_test" in name]
    hint = (
        did_you_mean(target.unit_test_file or unit_test_name(target.index), tests)
        or "`lmr-author record` makes one"
    )
    yield from wrong_path(task, target, "unit_test_file", task.repository, hint)
    if path is None or path.suffix != ".py" or task.module(path) is not None:
        return
    line, cause, too_deep = syntax_error(task, path)
    if too_deep:
        hint = "keep values in a file beside the test, and long conditions in functions"
        yield Problem(f"not checked: {cause}", hint, path, line, severity=WARNING)
    else:
        yield Problem(f"cannot be parsed as Python 3: {cause}", "correct the syntax", path, line)


_ELSEWHERE = re.compile(r"(?:[A-Za-z]:[\\/]|~/|/(?:home|Users|root|mnt|media|data|scratch)/)\S+")


@test_check(
    "LMR508",
    "a file that the test reads is missing",
    rationale="A fixture that stayed on the annotator's machine, or whose path exists only there, makes the test fail"
    " for everybody else.",
)
def fixtures_exist(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    present = {entry.name for entry in task.entries if entry.kind == "file"}
    present |= {Path(file.path).name for file in test.files if file.is_written}
    first_lines = {file.path: file.line for file in reversed(test.files)}
    for text, line in first_lines.items():
        name = text.replace("\\", "/").rpartition("/")[2]
        hint = "store it in unit_test/, and name it relative to the test's own folder"
        if _ELSEWHERE.fullmatch(text):
            yield Problem(f"names {text!r:.120}, a path of another machine", hint, line=line)
        elif name not in {*present, ""} and not text.startswith((".", "/tmp")):
            hint = did_you_mean(text, list(task.repository_files), 0.75) or hint
            yield Problem(f"names {text!r:.120}, which is missing", hint, line=line)


_NETWORK = re.compile(
    r"\b(?:from_pretrained|SentenceTransformer|pipeline|load_dataset|hf_hub_download|snapshot_download"
    r"|spacy\.load|hub\.load)\(\s*(?:\w+=)?[\"'](?![./~])([\w./-]+)[\"']|\b(?:requests\.(?:get|post)|urlopen"
    r"|urlretrieve|OpenAI|Anthropic|(?:wget|gdown|nltk|stanza)\.download)\(|\b(?:pretrained|download)=True"
    r"|[A-Z_]+_API_KEY|\b(?:wget|curl|gdown|git clone|huggingface-cli|hf download)[\"' ]"
)
_NCCL = re.compile(r"[\"']nccl[\"']")


@test_check(
    "LMR509",
    "the test needs a GPU, the network or a model",
    rationale="Verification runs on machines without a GPU and without a network. Small recorded inputs test the same"
    " function; `record --cuda-as-cpu` records a target that hard-codes `cuda`.",
    severity=WARNING,
    recorded=False,
)
def runs_anywhere(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    module = test.modules[0]
    if "mock" in module.text:
        return
    hint = "record small inputs on a CPU: `lmr-author record`"
    code = [line.partition("#")[0] for line in module.text.splitlines()]
    matches = [(number, match) for number, line in enumerate(code, 1) if (match := _NETWORK.search(line))]
    for number, match in matches:
        if not (match.lastindex and task.named(match[1].rpartition("/")[2])):
            yield Problem(f"needs the network or a model: {match[0]:.60}", hint, line=number)
            break
    if "is_available" in module.text:
        return
    nccl = [number for number, line in enumerate(code, 1) if _NCCL.search(line)]
    for number in (nccl or gpu_lines(module.tree, module.tree))[:1]:
        yield Problem(f"needs a GPU: `{module.line_text(number).strip():.60}`", hint, line=number)


@target_check(
    "LMR510",
    "goal_file is the unit test",
    rationale="With the test as goal file the agent is told to edit what judges it.",
)
def goal_is_not_test(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    goal = target.goal_file
    if names_unit_test(task, target):
        which = "the" if goal == target.unit_test_file else "part of the"
        message = f"goal_file {goal!r:.120} is {which} unit test"
        pointer = task.pointer(target, "goal_file")
        yield Problem(message, "name the file that contains the masked function", INFO, pointer=pointer)


_EXPECTED = re.compile(r"expect|golden|reference|fixture|ground_?truth|test_?(?:data|case)", re.IGNORECASE)


@test_check(
    "LMR511",
    "the unit test or its expected values lie outside of unit_test/",
    rationale="Everything in unit_test/ is withheld from the agent, and nothing else is: a test or expected values"
    " elsewhere are part of what it is given. LMR-Bench's scripts run unit_test/unit_test_*.py only.",
)
def test_in_its_folder(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    inside = task.in_repository_path(test.path)
    if task.repository is None or not inside:
        return
    if not inside.startswith("unit_test/"):
        yield Problem("the unit test lies outside of unit_test/", "move it there")
    for text, line, written in test.files:
        path = re.sub(r"^(?:\.\./|\./)+", "", text)
        is_outside = path in task.repository_files and not path.startswith("unit_test/")
        beside = task.is_file(test.path.parent / text)
        if is_outside and not beside and not written and _EXPECTED.search(path):
            message = f"expected values are read from {path}, outside of unit_test/"
            yield Problem(message, "move the file to unit_test/", line=line, severity=WARNING)


@check(
    "LMR512",
    "a recording was changed",
    rationale="Expected values that were edited by hand, or half of a recording, make a test that no golden run ever"
    " confirmed.",
)
def recordings_untouched(task: TaskContents) -> Iterator[Problem]:
    for entry in task.repository_entries:
        if entry.kind == "folder" and re.fullmatch("unit_test/recordings/[^/]+", task.in_repository(entry)):
            problem = _changed_recording(task, entry)
            if problem is not None:
                yield problem


def _changed_recording(task: TaskContents, entry: FileEntry) -> Problem | None:
    again = "record again: `lmr-author record`"
    folder = task.path(entry)
    manifest = folder / MANIFEST
    data = task.read_bytes(manifest)
    content = task.below(entry.relative)
    if data is None:
        has_cases = any(file.name.startswith("case_") for file in content)
        is_ours = has_cases and task.is_file(folder.parent.parent / SUPPORT)
        return Problem(f"{MANIFEST} is missing", again, folder) if is_ours else None
    if any(file.kind == "link" for file in content):
        return Problem("a recording contains a symbolic link", again, folder)
    try:
        changes = tampered(folder, Recording.from_json(read_json(data)))
    except LmrError as error:
        return Problem(error.message, again, manifest)
    if not changes:
        return None
    more = f"; and {len(changes) - 3} more" if len(changes) > 3 else ""
    return Problem(printable("; ".join(changes[:3]) + more), again, manifest)


@check(
    "LMR514",
    "two tests write one log",
    rationale='Two tests that write one log overwrite or mix their verdicts: one "Failed" fails both, or the last'
    ' "Passed" passes both.',
)
def own_log_file(task: TaskContents) -> Iterator[Problem]:
    owners: dict[str, dict[Path, Implementation]] = defaultdict(dict)
    for target in task.implementations:
        test = read_test(task, target)
        if test is None:
            continue
        for text in test.texts:
            if text.value.endswith(".log"):
                owners[Path(text.value).name].setdefault(test.path, target)
    for log, tests in sorted(owners.items()):
        for path, target in tests.items():
            others = ", ".join(str(other.index) for other in tests.values() if other is not target)
            if others:
                hint = f"name it unit_test/logs/unit_test_{target.index}.log"
                message = f"writes {log}, as the test of implementation {others} does"
                yield Problem(message, hint, path, target=target)

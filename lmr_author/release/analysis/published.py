"""LMR-Bench's published results as lines of observations: verdicts of unit tests, texts of judges, people's grades."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.release.analysis.grades import CC, LC, LI, UNPARSABLE, read_grade

UNIT_TESTS, JUDGES, PEOPLE = "unit_test_evaluation", "llm_as_a_judge_evaluation", "human_evaluation"
SETTINGS = {
    "BaseAgent": "prompting",
    "no_agent": "prompting",
    "OpenHands": "agent",
    "openhands_agent": "agent",
}
GRADES = (LI, LC, CC)
SCALES = (0, 1)
"""Numbers that the lowest grade may have."""

_VERDICT = re.compile(
    r"(?:^|/)(?P<task>\d+-[^/]+)/(?:.*/)?unit_test(?:_(?P<index>\d+))?\.log:\s*(?P<verdict>PASS|FAIL)"
)
_NO_LOG = re.compile(r"/(?P<task>\d+-[^/]+)/[^/]+/unit_test/logs is not")
_ANALYSIS = re.compile(r"(?P<task>\d+-.+)_(?P<index>\d+)_analysis")

Line = tuple[str, dict[str, Any]]


def find(folder: Path) -> Path | None:
    """Return the folder of published results: this one, or its ``results``; None if there is none."""
    for candidate in (folder, folder / "results"):
        if any((candidate / name).is_dir() for name in (UNIT_TESTS, JUDGES, PEOPLE)):
            return candidate
    return None


def read(folder: Path, scales: Mapping[str, int]) -> Iterator[Line]:
    """Yield lines with their places; ``scales`` has the number of an annotator's lowest grade, if it is not 1.

    Raises LmrError: a folder that is no setting, or grades that do not fit their scale.
    """
    names: dict[str, str] = {}
    for where, line in (*_unit_tests(folder / UNIT_TESTS), *_judges(folder / JUDGES)):
        names[line["task"].partition("-")[0]] = line["task"]
        yield where, line
    paths = sorted((folder / PEOPLE).glob("*.json"))
    if unknown := sorted(set(scales) - {path.stem for path in paths}):
        raise LmrError(
            f"--scale {unknown[0]}: there is no {PEOPLE}/{unknown[0]}.json", f"see {folder / PEOPLE}"
        )
    for path in paths:
        yield from _people(path, scales, names)


def _systems(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the folder of each setting and model, and the fields that all of its lines share."""
    for system in sorted(folder.glob("*/*/")):
        setting = system.parent.name
        if "checkpoint" in f"{setting}/{system.name}":
            continue
        if setting not in SETTINGS:
            raise LmrError(f"{system.parent}: unknown setting", f"one of: {', '.join(SETTINGS)}")
        yield system, {"model": system.name, "setting": SETTINGS[setting], "sample": 1}


def _unit_tests(folder: Path) -> Iterator[Line]:
    for results, system in _systems(folder):
        path = results / "results.txt"
        if not path.is_file():
            continue
        for number, text in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1):
            where = f"{path}:{number}"
            line = {**system, "outcome": "failed", "index": 1}
            if match := _VERDICT.search(text.strip()):
                line["index"] = int(match["index"] or 1)
                if match["verdict"] == "PASS":
                    line["outcome"] = "passed"
            else:
                match = _NO_LOG.search(text)
            if match:
                yield where, {**line, "task": match["task"]}
            elif text.strip():
                raise LmrError(f"{where}: neither a verdict nor a missing log", "remove the line")


def _judges(folder: Path) -> Iterator[Line]:
    for results, system in _systems(folder):
        for path in sorted(results.glob("*_analysis.txt")):
            if match := _ANALYSIS.fullmatch(path.stem):
                grade = read_grade(path.read_text("utf-8", errors="replace")) or UNPARSABLE
                index = int(match["index"]) + 1
                yield str(path), {**system, "task": match["task"], "index": index, "judge": grade}


def _people(path: Path, scales: Mapping[str, int], names: Mapping[str, str]) -> Iterator[Line]:
    """Yield one annotator's grades. All of a file are on one scale: values that do not fit are never guessed."""
    entries = files.read_json(path)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise LmrError(f"{path}: not a list of grades", "see docs/analysis.md")
    graded = [entry for entry in entries if entry.get("human_judge_result") is not None]
    lowest = scales.get(path.stem, 1)
    grades = {str(entry["human_judge_result"]).strip() for entry in graded}
    allowed = [str(lowest + step) for step in range(len(GRADES))]
    if strange := sorted(grades - set(allowed)):
        fits = next((each for each in SCALES if grades <= {str(each + step) for step in range(3)}), None)
        hint = "correct the file: its grades are on more than one scale"
        if fits is not None:
            best = fits + len(GRADES) - 1
            hint = f"if {best} is completely correct and {fits} logically incorrect, add --scale {path.stem}={fits}"
        raise LmrError(f"{path}: grade {strange[0]!r} on a scale from {allowed[0]} to {allowed[-1]}", hint)
    for number, entry in enumerate(graded, 1):
        where = f"{path}, grade {number}"
        try:
            paper, setting = str(entry["paper_index"]), SETTINGS[entry["agent_type"]]
            line = {
                "task": names.get(paper, paper),
                "index": int(entry["function_index"]) + 1,
                "setting": setting,
            }
            person, model = entry.get("annotator") or path.stem, entry["model_name"]
        except (KeyError, TypeError, ValueError) as error:
            raise LmrError(f"{where}: {error!r} is missing or unknown", "see docs/analysis.md") from error
        grade = GRADES[allowed.index(str(entry["human_judge_result"]).strip())]
        yield where, {**line, "model": model, "grader": person, "grade": grade}

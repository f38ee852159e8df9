"""Hostile candidates score nothing and harm nothing; correct ones beside them pass."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.core.task import Task
from lmr_author.proof.evaluation import script
from lmr_author.proof.evaluation.candidates import scorer
from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.candidates.run import ScoredPredictions, score
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions
from lmr_author.proof.evaluation.trees import duplicate_targets
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.runtime.environment.where import Where
from lmr_author.runtime.replay import replaying, staging
from lmr_author.runtime.sandbox import bubblewrap
from tests.cli.program import snapshot
from tests.evaluation.foreign import PLAIN, foreign_task
from tests.evaluation.hostile import CORRECT, HOSTILE, returns
from tests.pipeline import few_generated_calls, recorded
from tests.support import make_task, remove_image

BASE_IMAGE = os.environ.get("LMR_TEST_BASE_IMAGE", "lmr-author/base:bookworm")
HINGE = "pkg/losses.py::hinge"
SECONDS, GRACE_SECONDS = 1.0, 3.0
"""In place of a minute and of ten seconds: nothing here has to wait for long."""
IN_DOCKER = (
    "reads expected outputs",
    "forks for ever",
    "takes all memory",
    "kills everything",
    "becomes root",
)


def judged(
    task: Task, answers: Sequence[tuple[str, str]], out: Path, **options: object
) -> dict[str, CandidateResult]:
    """Judge answers, by the name of their model."""
    out.mkdir()
    lines = [{"task": task.name, "index": 1, "model": model, "code": code} for model, code in answers]
    source = out / "predictions.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    chosen = CandidateOptions(out, jobs=2, where=PLAIN, seconds=SECONDS, memory_mb=1024, start_seconds=8)
    for name, value in options.items():
        object.__setattr__(chosen, name, value)
    with few_generated_calls(some=False), pytest.MonkeyPatch.context() as patch:
        patch.setattr(replaying, "GRACE_SECONDS", GRACE_SECONDS)
        patch.setattr(scorer, "_GRACE_SECONDS", 1)
        patch.setattr(script, "DiskWatch", partial(script.DiskWatch, most_bytes=2**26))
        found: ScoredPredictions = score([task], source, chosen, lambda _: None, lambda *_: None)
    return {result.model: result for result in found.results}


def beside(hostile: Sequence[str]) -> list[tuple[str, str]]:
    """Hostile candidates with a correct one before, among and after them."""
    answers = [(name, HOSTILE[name]) for name in hostile]
    for number, place in enumerate((0, len(answers) // 2 + 1, len(answers) + 2), 1):
        answers.insert(place, (f"correct {number}", CORRECT))
    return answers


@pytest.mark.bwrap
@pytest.mark.timeout(900)
def test_hostile_candidates_score_nothing_and_harm_nothing(recorded_hinge: Task, tmp_path: Path) -> None:
    task = recorded_hinge
    assert len(HOSTILE) >= 40
    before = snapshot(task.root)
    running = set(own_processes())

    found = judged(task, beside(list(HOSTILE)), tmp_path / "out")

    outcomes = {name: found[name].outcome for name in HOSTILE}
    assert {name for name, outcome in outcomes.items() if outcome is Outcome.PASSED} == set()
    assert {name for name, outcome in outcomes.items() if outcome is Outcome.UNJUDGED} == set()
    assert [found[f"correct {number}"].outcome for number in (1, 2, 3)] == [Outcome.PASSED] * 3
    assert snapshot(task.root) == before
    assert set(own_processes()) - running == set()
    for name, outcome in {
        "never ends": Outcome.TIMEOUT,
        "crashes the interpreter": Outcome.CRASHED,
        "exits with 0": Outcome.CRASHED,
        "returns what it was given": Outcome.FAILED,
    }.items():
        assert found[name].outcome is outcome, found[name]
    assert len(found["never ends"].cases) == 1, "later cases do not wait for their time limit, too"


@pytest.mark.docker
@pytest.mark.timeout(900)
def test_hostile_candidates_in_docker(hinge: Task, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """In an image with everything of the task in it, as hand-made Dockerfiles make it."""
    copied = Task(hinge.root.rename(tmp_path / "1-Copied"))
    copied.dockerfile.write_text(f"FROM {BASE_IMAGE}\nWORKDIR /workspace\nCOPY . .\nCOPY . /elsewhere\n")
    (copied.root / ".dockerignore").unlink(missing_ok=True)
    answers = beside(IN_DOCKER)
    for number, place in enumerate(("/workspace", "/elsewhere")):
        golden = f"runpy.run_path('{place}/golden_files/losses_golden.py')['hinge'](x, margin)"
        answers.append((f"runs the golden {number}", returns(golden, "import runpy")))

    request.addfinalizer(lambda: remove_image(copied))
    found = judged(copied, answers, tmp_path / "out", where=Where("docker"))

    for number in (0, 1):
        assert found[f"runs the golden {number}"].outcome is Outcome.FAILED

    wrong = {name: found[name] for name in IN_DOCKER}
    assert {score.outcome for score in wrong.values()} <= {
        Outcome.FAILED,
        Outcome.CRASHED,
        Outcome.TIMEOUT,
    }, wrong
    assert [found[f"correct {number}"].outcome for number in (1, 2, 3)] == [Outcome.PASSED] * 3


FORGERIES = {
    "exits with 0": "    import os\n    os._exit(0)\n",
    "raises SystemExit": "    raise SystemExit(0)\n",
    "says it all and exits": (
        "    import os, sys\n    open('unit_test/logs/unit_test_1.log', 'w').write('Passed')\n"
        "    sys.stderr.write('Ran 1 test in 0.0s\\n\\nOK\\n')\n    sys.stderr.flush()\n    os._exit(0)\n"
    ),
    "patches unittest": (
        "    import unittest\n    unittest.TestCase.assertAlmostEqual = lambda *a, **k: None\n    return 0.0\n"
    ),
    "reads what is expected": (
        "    import json\n    for case in json.load(open('unit_test/' + 'cases.json')):\n"
        "        if case['x'] == x and case['beta'] == beta:\n            return case['expected']\n"
    ),
    "reads its caller's variables": "    import sys\n    return sys._getframe(1).f_locals['case']['expected']\n",
    "fills the disk": (
        "    for number in range(10**6):\n"
        "        with open(f'unit_test/{number}', 'wb') as file:\n            file.write(bytes(1 << 20))\n"
    ),
    "makes folders below all limits": (
        "    import os\n    for _ in range(5_000):\n        os.mkdir('a')\n        os.chdir('a')\n"
        "    while True:\n        pass\n"
    ),
    "never ends": "    while True:\n        pass\n",
}
HONEST = "    scaled = beta * x\n    return math.log(1 + math.exp(-abs(scaled))) / beta + max(x, 0.0)\n"


@pytest.mark.bwrap
@pytest.mark.timeout(900)
def test_forged_verdicts_of_a_hand_written_test(tmp_path: Path) -> None:
    """It runs beside its test, so what it could forge with is not believed where the golden has no need of it."""
    task = foreign_task(tmp_path / "tasks")
    before = snapshot(task.root)
    header = "def softplus(x, beta=1.0):\n"
    answers = [(name, header + body) for name, body in FORGERIES.items()] + [("honest", header + HONEST)]
    found = judged(task, answers, tmp_path / "out", start_seconds=5.0)
    assert found["honest"].outcome is Outcome.PASSED, found["honest"]
    outcomes = {name: found[name].outcome for name in FORGERIES}
    assert {name for name, outcome in outcomes.items() if outcome is Outcome.PASSED} == set()
    assert outcomes["reads what is expected"] is outcomes["says it all and exits"] is Outcome.INVALID
    assert outcomes["never ends"] is Outcome.TIMEOUT
    assert outcomes["makes folders below all limits"] is Outcome.CRASHED
    assert outcomes["fills the disk"] in (Outcome.CRASHED, Outcome.TIMEOUT)
    assert snapshot(task.root) == before


def own_processes() -> Iterator[int]:
    """Processes in sandboxes of this process: by their user, which root gives to no other's, else by what they run."""
    first = bubblewrap._OWN_IDS + (os.getpid() & 0x3FFFFF) * 64
    for folder in Path("/proc").iterdir():
        try:
            user, line = folder.stat().st_uid, (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if folder.name.isdigit() and (
            first <= user < first + 64 if os.geteuid() == 0 else b"lmr_probe" in line
        ):
            yield int(folder.name)


COPY = b'''\
def old_hinge(x, margin=1.0):
    """Hinge loss, as it was."""
    gap = margin - x
    if gap > 0:
        return gap
    return 0.0
'''
CALLS_ITS_COPY = """\
def hinge(x, margin=1.0):
    from pkg import legacy
    return legacy.old_hinge(x, margin)
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """Two targets that are copies of each other, in two files, and a third that is another function."""
    made = make_task(tmp_path_factory.mktemp("copied"))
    (made.root / "small-repo" / "pkg" / "legacy.py").write_bytes(COPY)
    targets = (HINGE, "pkg/legacy.py::old_hinge", "pkg/losses.py::Meter.add")
    mask(made, MaskOptions(targets, category="Evaluation Metrics"), made.root)
    recorded(made)
    return made


@pytest.mark.bwrap
def test_a_candidate_cannot_call_another_target_that_is_a_copy_of_its_own(
    copied: Task, tmp_path: Path
) -> None:
    answers = [("calls its copy", CALLS_ITS_COPY), ("correct", CORRECT)]
    found = judged(copied, answers, tmp_path / "out")
    assert found["calls its copy"].outcome is Outcome.FAILED
    assert "NotImplementedError" in found["calls its copy"].reason
    assert found["correct"].outcome is Outcome.PASSED


def test_harbors_grader_gets_no_golden_of_a_copy(copied: Task, tmp_path: Path) -> None:
    info = copied.load()
    masked = staging.golden_overlay(copied, info, duplicate_targets(copied, info, info.implementations[0]))
    assert b"return gap" not in masked["pkg/legacy.py"]
    assert b"return gap" in masked["pkg/losses.py"] and b"fsum" in masked["pkg/losses.py"]

"""Kill commands with SIGKILL at some moment, run them again, and count what is not as it was promised.

Promised is: a task is as before, as after, or such that the same command completes it; and then nothing is left of the
one that was killed, nor does any process of it live on. For ``kills.py``, and a few of them for
``tests/cli/test_killed.py``.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author.release.review.checklist import template
from tests.gitrepos import make_repository
from tests.papers import make_paper
from tests.recipes.recipes import write_recipe
from tests.support import make_task
from tests.wheels import wheel

ROOT = Path(__file__).resolve().parent.parent
HINGE = "pkg/losses.py::hinge"
TASK = "tasks/1-Small"
BASE_IMAGE = os.environ.get("LMR_TEST_BASE_IMAGE", "lmr-author/base:bookworm")
SECONDS = 240.0
"""Time limit of one command."""
_DYING_SECONDS = 3.0
"""Time for the kernel to end what was started by the killed process; a machine may be busy."""
_LEFT = re.compile(r"^\..*\.[a-z0-9_]{8}\.(tmp|partial)$|^\.(clone|bundle)-")


@dataclass(frozen=True)
class Verb:
    """A command to be killed.

    Attributes:
        stage: the state of the folder before, one of :data:`STAGES`.
        words: its arguments.
        place: where it is run, below the folder.
        prepared: changes the folder before it is killed.
        resumes: the second run uses what the first one found out until then, so that their result may differ.
    """

    name: str
    stage: str
    words: tuple[str, ...]
    place: str = TASK
    prepared: Callable[[Path], None] = field(default=lambda _: None)
    resumes: bool = False


STAGES: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "fresh": (),
    "masked": ("mask", HINGE, "--category", "Evaluation Metrics", "--no-input"),
    "recorded": ("record", HINGE, "--no-input", "--", "python", "run.py"),
}
"""Stage → the command that leads to it from the one before."""

_EXPORT = ("export", "tasks", "--force", "--out", "out", "--to")


def _pin(folder: Path) -> None:
    path = folder / TASK / "info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "repo_commit": "1" * 40}))


VERBS = (
    Verb("new-task", "nothing", ("new-task", "paper.pdf", "--repo", "./code", "--title", "T", "--year", "2023",
         "--name", "x", "--id", "1", "--offline", "--no-input"), "."),
    Verb("mask", "fresh", STAGES["masked"]),
    Verb("unmask", "recorded", ("unmask", HINGE)),
    Verb("record", "masked", STAGES["recorded"], resumes=True),
    Verb("evaluate", "recorded", ("evaluate", "--repeats", "1")),
    Verb("judge --predictions", "recorded", ("judge", "tasks", "--predictions", "answers.jsonl"), "."),
    Verb("validate", "many", ("validate", "tasks", "--jobs", "2"), "."),
    Verb("review", "recorded", ("review", "--reviewer", "Ann", "--answers", "../../answers.json")),
    Verb("vet", "recorded", ("vet", "--offline", "--no-input")),
    Verb("set", "masked", ("set", "year=2021")),
    Verb("make --write", "recorded", ("make", "--write", "tasks/1-Small", "--out", "again"), ".", prepared=_pin),
    Verb("make", "recipe", ("make", "recipes", "--out", "made"), ".", resumes=True),
    Verb("challenge", "recorded", ("challenge", "--answers", "../../answers"), resumes=True),
    Verb("judge --by-hand", "recorded", ("judge", "--by-hand", "--candidate", "../../answer.py", "--reviewer", "Ann",
         "--grade", "logically-correct", "--reason", "as I read it")),
    Verb("env lock", "fresh", ("env", "lock", "--force")),
    Verb("env local", "masked", ("env", "local", "--with", "tiny_lmr")),
    Verb("report --html", "recorded", ("report", "--html", "page.html"), "."),
    *(Verb(f"export {to}", "recorded", (*_EXPORT, to), ".") for to in ("agent", "lmr-bench", "harbor")),
    Verb("export huggingface", "recorded", (*_EXPORT, "huggingface", "--with-private", "private"), "."),
    Verb("demo", "nothing", ("demo", "--dir", "d"), "."),
)  # fmt: skip
DOCKER = Verb("evaluate in Docker", "recorded", ("evaluate", "--repeats", "1", "--sandbox", "docker"))


@dataclass(frozen=True)
class Kill:
    """The outcome of one kill.

    Attributes:
        state: of the files after the kill: before, after, between; "not killed" where the command was faster; "error"
            where it cannot be run here at all.
        completed: whether the same command led to the state of one that was never killed.
        left: kind of a leftover → number, after the same command has run again.
        detail: what is wrong, for people.
    """

    verb: str
    state: str
    completed: bool
    left: Mapping[str, int]
    detail: str = ""

    @property
    def good(self) -> bool:
        """True if everything is as promised."""
        return self.completed and not self.left


class Range:
    """Makes stages once, and kills commands on copies of them.

    Args:
        folder: for everything; nothing else may write there.
        code: the folder that holds the package.
    """

    def __init__(self, folder: Path, code: Path = ROOT) -> None:
        self._folder = folder
        self._code = code
        self._references: dict[str, tuple[dict[str, str], dict[str, str], float]] = {}
        wheel(folder / "wheels")
        self._make("nothing", self._nothing)
        self._make("fresh", self._fresh)

    def kill(self, verb: Verb, choose: random.Random) -> Kill:
        """Kill a command at a moment by chance, run it again, and look."""
        before, after, seconds = self._reference(verb)
        trial = self._copy(verb)
        process = self._start(verb, trial)
        _wait_for_moment(process, trial, seconds, choose)
        killed = process.poll() is None
        process.kill()
        process.communicate()
        alive = _living(trial)
        state = self._state(trial, before, after) if killed else "not killed"
        again = self._start(verb, trial)
        text = _finish(again)
        now = _snapshot(trial)
        completed = (
            state in ("after", "not killed") or now == after or (verb.resumes and again.returncode == 0)
        )
        left = Counter(_left(trial))
        left["process"] += len(alive)
        left["container"] += _containers(process.pid) + _containers(again.pid)
        detail = f"living: {alive}\n" if alive else ""
        detail += "" if completed else f"exit {again.returncode}: {text[-600:]}\n{_difference(now, after)}"
        shutil.rmtree(trial)
        return Kill(verb.name, state, completed, +left, detail)

    def _reference(self, verb: Verb) -> tuple[dict[str, str], dict[str, str], float]:
        """Return the files before and after a command that is not killed, and its seconds."""
        if verb.name not in self._references:
            trial = self._copy(verb)
            before, started = _snapshot(trial), time.monotonic()
            process = self._start(verb, trial)
            text = _finish(process)
            assert process.returncode in (0, 1), (verb.name, text)
            self._references[verb.name] = before, _snapshot(trial), time.monotonic() - started
            assert not list(_left(trial)), (verb.name, list(_left(trial)))
            shutil.rmtree(trial)
        return self._references[verb.name]

    def _copy(self, verb: Verb) -> Path:
        trial = self._folder / f"kill-{uuid.uuid4().hex[:12]}"
        shutil.copytree(self._stage(verb.stage), trial, symlinks=True)
        verb.prepared(trial)
        return trial

    def _stage(self, name: str) -> Path:
        made = self._folder / "stages" / name
        if made.exists():
            return made
        names = list(STAGES)
        if name == "recipe":
            made.mkdir(parents=True)
            (made / "tmp").mkdir()
            write_recipe(made / "recipes" / "1-small")
            return made
        if name == "many":
            shutil.copytree(self._stage("recorded"), made)
            for number in range(2, 12):
                shutil.copytree(made / TASK, made / "tasks" / f"{number}-Small")
            return made
        shutil.copytree(self._stage(names[names.index(name) - 1]), made, symlinks=True)
        process = self._start(Verb(name, name, STAGES[name]), made)
        text = _finish(process)
        assert process.returncode == 0, text
        return made

    def _make(self, name: str, fill: Callable[[Path], None]) -> None:
        folder = self._folder / "stages" / name
        (folder / "tmp").mkdir(parents=True)
        (folder / "tmp").chmod(0o755)
        fill(folder)

    def _nothing(self, folder: Path) -> None:
        make_paper(folder / "paper.pdf")
        many = {f"data/{number}.txt": "x" * 1000 for number in range(300)}
        make_repository(
            folder / "code", {"train.py": "import tiny_lmr\n", "requirements.txt": "tiny_lmr\n", **many}
        )

    def _fresh(self, folder: Path) -> None:
        task = make_task(folder / "tasks")
        make_paper(task.root / "small-repo" / "paper.pdf")
        (task.root / "small-repo" / "requirements.txt").write_text("tiny_lmr\n")
        (task.root / "authoring").mkdir()
        task.provenance_path.write_text(json.dumps({"repository": {"commit_date": "2100-12-31T00:00:00Z"}}))
        task.lock.write_text("# Python 3.11\ntiny-lmr==1.0\n")
        task.dockerfile.write_text(
            f"FROM {BASE_IMAGE}\nARG DIR=small-repo\nCOPY ${{DIR}} /workspace/${{DIR}}\nWORKDIR /workspace\n"
        )
        answers = {name: {"answer": "pass", "comment": "as I read it"} for name in template()}
        (folder / "answers.json").write_text(json.dumps(answers))
        line = {
            "task": "1-Small",
            "index": 1,
            "model": "m",
            "code": "def hinge(x, margin=1.0):\n    return 0.0\n",
        }
        (folder / "answers" / "misreadings").mkdir(parents=True)
        (folder / "answers" / "misreadings" / "zero.py").write_text(str(line["code"]))
        (folder / "answer.py").write_text(str(line["code"]))
        (folder / "answers.jsonl").write_text(
            "".join(json.dumps({**line, "sample": n}) + "\n" for n in range(2))
        )

    def _start(self, verb: Verb, trial: Path) -> subprocess.Popen[str]:
        dropped = ("LMR_", "GIT_", "UV_", "PIP_", "COVERAGE")
        env = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        own = {
            "PYTHONPATH": str(self._code),
            "TMPDIR": str(trial / "tmp"),
            "LMR_AUTHOR_CACHE": str(trial / "cache"),
            "UV_FIND_LINKS": str(self._folder / "wheels"),
            "UV_NO_INDEX": "1",
            "UV_CACHE_DIR": str(trial / "uv"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "NO_COLOR": "1",
        }
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "lmr_author", *verb.words], cwd=trial / verb.place, env={**env, **own},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip

    def _state(self, trial: Path, before: dict[str, str], after: dict[str, str]) -> str:
        now = _snapshot(trial)
        return "before" if now == before else "after" if now == after else "between"


def _finish(process: subprocess.Popen[str]) -> str:
    """Wait for a command and return what it printed; one that takes too long is killed, and raises TimeoutExpired."""
    try:
        return process.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise


def _wait_for_moment(
    process: subprocess.Popen[str], trial: Path, seconds: float, choose: random.Random
) -> None:
    """Wait for a while by chance; every other time, for a change of the files, where the dangerous moments are."""
    changes = choose.choice((0, 0, 1, 1, 2, 3, 5, 8))
    if changes == 0:
        time.sleep(choose.uniform(0.1, 1.05) * seconds)
        return
    deadline = time.monotonic() + seconds * 1.5
    seen, known = 0, _names(trial)
    while seen < changes and process.poll() is None and time.monotonic() < deadline:
        now = _names(trial)
        seen += now != known
        known = now
    time.sleep(choose.choice((0, 0, 0.002, 0.02)))


def _names(folder: Path) -> set[str]:
    """Return the names of all files and folders but those of the user's cache and the clone."""
    found, waiting = set[str](), [str(folder)]
    while waiting:
        try:
            for entry in os.scandir(waiting.pop()):
                found.add(entry.path)
                if entry.is_dir(follow_symlinks=False) and entry.name not in ("uv", "code", ".git"):
                    waiting.append(entry.path)
        except OSError:
            continue
    return found


def _snapshot(trial: Path) -> dict[str, str]:
    """Return the content of each file that a user has, without what differs from run to run; no temporaries."""
    found = {}
    for path in sorted(trial.rglob("*")):
        parts = path.relative_to(trial).parts
        if parts[0] in ("tmp", "cache", "uv") or any(_LEFT.match(part) or part == ".git" for part in parts):
            continue
        if "logs" in parts or "runs" in parts or parts[-1] in (".lock", "authoring") or not path.is_file():
            continue
        text = path.read_bytes().decode("utf-8", "replace").replace(str(trial), "@").replace(trial.name, "@")
        # Times and durations, digests of what has them, and what says when it was made.
        text = re.sub(r"\b[0-9a-f]{8,64}\b", "x", text)
        found["/".join(parts)] = re.sub(r"\d+(\.\d+)?([eE]-\d+)?", "0", text) if _dated(parts) else text
    return found


def _dated(parts: tuple[str, ...]) -> bool:
    name = parts[-1]
    return "authoring" in parts or name.endswith(
        (".html", ".jsonl", ".md", ".json", ".py", ".lock", "Dockerfile", ".toml")
    )


def _difference(now: dict[str, str], after: dict[str, str]) -> str:
    names = {name for name in {*now, *after} if now.get(name) != after.get(name)}
    return "; ".join(
        f"{name} {'differs' if name in now and name in after else 'is missing' if name in after else 'is new'}"
        for name in sorted(names)
    )


def _left(trial: Path) -> Iterator[str]:
    """Yield the kind of each temporary file or folder that is left."""
    yield from ("temporary" for _ in (trial / "tmp").iterdir())
    for folder, folders, names in os.walk(trial):
        if Path(folder) == trial:
            folders[:] = [name for name in folders if name not in ("tmp", "uv")]
        yield from ("partial" for name in [*folders, *names] if _LEFT.match(name))


def _living(trial: Path) -> list[str]:
    """Return the command lines of processes of a killed command that live on, and end them."""
    deadline = time.monotonic() + _DYING_SECONDS
    while (found := list(_processes(trial.name))) and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = []
    for pid in found:
        try:
            lines.append(
                Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            )
            os.kill(pid, 9)
        except OSError:
            continue
    return lines


def _processes(word: str) -> Iterator[int]:
    """Yield processes with a word in their command line or environment; what only removes folders is welcome to."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            text = line + (folder / "environ").read_bytes()
        except OSError:
            continue
        if line and word.encode() in text and not line.startswith(b"/bin/rm"):
            yield int(folder.name)


def _containers(pid: int) -> int:
    if shutil.which("docker") is None:
        return 0
    listed = subprocess.run(
        ["docker", "ps", "-a", "--filter", "label=org.lmr-author.owner", "--format", "{{.Labels}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return sum(f"owner={pid}." in line for line in listed.stdout.splitlines())

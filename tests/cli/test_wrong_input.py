"""Wrong input: one ``error:``, one ``hint:``, the designed exit code, and every file as it was."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from lmr_author.taskdir import TaskDir
from tests.cli.conftest import HINGE
from tests.cli.program import (
    ENVIRONMENT,
    PROGRAM,
    TEMPORARY,
    finish,
    processes_with,
    refuse,
    snapshot,
    start,
    succeed,
    wait_for,
)
from tests.gitrepos import make_repository
from tests.papers import make_paper
from tests.support import make_task

USAGE, EXPECTED, INTERRUPTED = 2, 3, 130


# the command line itself


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        ("valdate", "there is no command 'valdate'", "did you mean validate"),
        ("frobnicate", "there is no command 'frobnicate'", "lmr-author --help"),
        ("validate --formt json", "no such option: --formt", "did you mean --format"),
        ("--loud", "no such option: --loud", "--help"),
        ("evaluate --sandbox podman", "'podman' is not one of 'local', 'docker'", "evaluate --help"),
        ("record --cases 0", "--cases", "record --help"),
        ("mask a.py::f --draft-notes --docstring x", "--draft-notes needs a value", "value first"),
        ("env lock --date --help", "--date needs a value, and the option --help follows", "--date=--help"),
        ("explain", "missing argument 'CODE'", "explain --help"),
        ("explain LMR999", "LMR999", "did you mean LMR"),
        (
            "env lock tasks/1-DPO",
            "unexpected extra argument",
            "named by --task; see lmr-author env lock --help",
        ),
        ("demo there", "unexpected extra argument", "see lmr-author demo --help"),
        ("report --html", "'--html' requires an argument", "see lmr-author report --help"),
        ("validate --select LMR999", "LMR999", ""),
        ("new-task --no-input", "no PAPER given", "new-task PAPER --repo URL"),
        ("new-task x.pdf --no-input", "no --repo URL given", "--repo URL"),
        ("export --to zip --out o x", "'zip' is not", "export --help"),
    ],
)
def test_usage(arguments: str, error: str, hint: str, tmp_path: Path) -> None:
    said, todo = refuse(USAGE, *arguments.split(), cwd=tmp_path)
    assert error in said
    assert hint in todo


# not a task folder


@pytest.mark.parametrize(
    "arguments",
    [
        "mask a.py::f --no-input",
        "unmask",
        "record a.py::f -- python x.py",
        "validate",
        "evaluate",
        "status",
        "review --reviewer me --answers a.json",
        "export . --to agent --out bundles",
    ],
)
def test_not_a_task_folder(arguments: str, tmp_path: Path) -> None:
    error, hint = refuse(EXPECTED, *arguments.split(), cwd=tmp_path)
    assert "not a task folder" in error
    assert "new-task" in hint


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    for verb in ("validate", "evaluate", "status"):
        assert "nowhere does not exist" in refuse(EXPECTED, verb, "nowhere", cwd=tmp_path)[0]


def test_an_info_json_that_is_none(fresh: TaskDir) -> None:
    fresh.info_path.write_text('{"instance_id": 1,,}')
    error, _ = refuse(EXPECTED, "mask", HINGE, "--no-input", cwd=fresh.root)
    assert "info.json:1:19" in error
    fresh.info_path.write_text("[]")
    assert "not a JSON object" in refuse(EXPECTED, "evaluate", cwd=fresh.root)[0]


# new-task: paper and repository


def new_task(folder: Path, paper: str, repository: str, *more: str) -> tuple[str, str]:
    flags = ("--title", "A Title", "--year", "2023", "--no-input", *more)
    return refuse(EXPECTED, "new-task", paper, f"--repo={repository}", *flags, cwd=folder)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"<html><body>Sign in</body></html>", "not.pdf"),
        (b"", "is empty"),
        (b"%PDF-1.7\n%%EOF\n", "not a readable PDF"),
        (b"PK\x03\x04" + bytes(200), "not.pdf"),
    ],
)
def test_a_pdf_that_is_none(content: bytes, error: str, tmp_path: Path) -> None:
    make_repository(tmp_path / "code")
    (tmp_path / "not.pdf").write_bytes(content)
    assert error in new_task(tmp_path, "not.pdf", "./code")[0]
    assert "there is no such file" in new_task(tmp_path, "missing.pdf", "./code")[0]


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c touch% owned",
        "--upload-pack=touch owned",
        "-x",
        "https://127.0.0.1:9/a/b",
        "file:///nowhere/at/all",
        "./missing",
        "./empty",
        "fd::17",
        "",
    ],
)
def test_a_repository_that_is_none_or_unsafe(address: str, tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf")
    (tmp_path / "empty").mkdir()
    if address:
        new_task(tmp_path, "paper.pdf", address)
    else:
        refuse(USAGE, "new-task", "paper.pdf", "--repo", "", "--no-input", cwd=tmp_path)
    assert not (tmp_path / "owned").exists()


def test_a_commit_that_does_not_exist(tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf")
    make_repository(tmp_path / "code")
    assert "f" * 40 in new_task(tmp_path, "paper.pdf", "./code", "--commit", "f" * 40)[0]


def test_a_number_that_is_taken(tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf")
    make_repository(tmp_path / "code")
    make_task(tmp_path / "tasks")
    assert "1 is taken by 1-Small" in new_task(tmp_path, "paper.pdf", "./code", "--id", "1")[0]


# mask: targets


def mask(task: TaskDir, target: str, *more: str, code: int = EXPECTED) -> tuple[str, str]:
    return refuse(code, "mask", target, *more, "--no-input", cwd=task.root)


@pytest.mark.parametrize(
    ("target", "error", "hint"),
    [
        ("pkg/losses.py::hing", "hing", "did you mean hinge"),
        ("pkg/loses.py::hinge", "no file 'pkg/loses.py'", "did you mean pkg/losses.py::hinge"),
        ("run.py::hinge", "hinge", "did you mean pkg/losses.py::hinge"),
        ("pkg/losses.py::Metre.add", "Metre.add", "did you mean Meter.add"),
        ("README.md::title", "not a Python file", ".py file"),
        ("../../outside.py::f", "outside", ""),
        ("/etc/passwd::root", "", ""),
    ],
)
def test_a_target_that_does_not_exist(target: str, error: str, hint: str, fresh: TaskDir) -> None:
    said, todo = mask(fresh, target)
    assert error in said
    assert hint.replace("did you mean ", "") in todo and ("did you mean" in todo) == ("did you mean" in hint)


def test_an_ambiguous_target(fresh: TaskDir) -> None:
    path = fresh.root / "small-repo" / "pkg" / "twice.py"
    path.write_text("def same(x):\n    return x + 1\n\n\ndef same(x):\n    return x + 2\n")
    error, hint = mask(fresh, "pkg/twice.py::same")
    assert "defined 2 times" in error and "pkg/twice.py::same#1" in hint
    succeed("mask", "pkg/twice.py::same#2", "--no-input", cwd=fresh.root)
    assert "x + 1" in path.read_text() and "x + 2" not in path.read_text()


def test_what_is_no_target_is_answered_by_what_is_masked(masked: TaskDir) -> None:
    for text in ("pkg/losses.py", "hinge"):
        error, hint = refuse(EXPECTED, "unmask", text, cwd=masked.root)
        assert "not a target" in error and hint == f"masked: {HINGE}"


def test_a_target_where_none_is_taken(masked: TaskDir) -> None:
    error, hint = refuse(USAGE, "instruct", HINGE, cwd=masked.root)
    assert "unexpected extra argument" in error and "--task" not in hint


def test_a_file_whose_name_begins_with_a_dash(fresh: TaskDir) -> None:
    (fresh.root / "small-repo" / "-dash.py").write_text("def f(x):\n    y = x\n    return y\n")
    error, hint = refuse(USAGE, "mask", "-dash.py::f", "--no-input", cwd=fresh.root)
    assert "no such option" in error and "written ./-dash.py::f" in hint
    done = succeed("mask", "./-dash.py::f", "--no-input", cwd=fresh.root)
    assert "masked ./-dash.py::f" in done.err
    assert "lmr-author record ./-dash.py::f --" in done.err
    succeed("unmask", "./-dash.py::f", cwd=fresh.root)


def test_a_file_whose_name_holds_a_backslash(fresh: TaskDir) -> None:
    (fresh.root / "small-repo" / "a\\b.py").write_text("def f(x):\n    y = x\n    return y\n")
    error, hint = mask(fresh, "a\\b.py::f")
    assert "a\\b.py holds a backslash" in error and "rename" in hint


def test_a_target_that_is_masked_already(masked: TaskDir) -> None:
    error, hint = mask(masked, HINGE)
    assert "already masked, as implementation 1" in error
    assert f"lmr-author unmask {HINGE}" in hint


def test_a_file_with_a_syntax_error(fresh: TaskDir) -> None:
    path = fresh.root / "small-repo" / "pkg" / "broken.py"
    path.write_text("def fine(x):\n    return x\n\n\ndef broken(:\n    pass\n")
    assert "pkg/broken.py:5" in mask(fresh, "pkg/broken.py::fine")[0]


def _binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 20)


def _python_2(path: Path) -> None:
    path.write_text("def f(x):\n    print x\n")


def _large(path: Path) -> None:
    path.write_text("def f(): return 1\n" + "x = 1\n" * 1_700_000)
    assert path.stat().st_size > 10_000_000


def _deep(path: Path) -> None:
    path.write_text("def f(): return 1\nx = " + "-" * 100_000 + "1\n")


def _circle(path: Path) -> None:
    path.symlink_to(path.name)


def _circle_of_two(path: Path) -> None:
    path.symlink_to("other.py")
    path.with_name("other.py").symlink_to(path.name)


def _link_out(path: Path) -> None:
    path.symlink_to(path.parent.parent / "info.json")


def _link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere.py")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_binary, "cannot be read as Python: it holds null bytes"),
        (_python_2, "file.py:2: not valid Python 3"),
        (_large, "larger than 4 MB"),
        (_deep, "nested too deeply"),
        (_circle, "a symbolic link that leads in a circle"),
        (_circle_of_two, "a symbolic link that leads in a circle"),
        (_link_out, "lies outside the repository"),
        (_link_to_nothing, "a symbolic link to nothing"),
        (os.mkfifo, "a named pipe, not a file"),
        (os.mkdir, "a folder, not a file"),
        (Path.touch, "no function 'f'"),
    ],
    ids=lambda item: getattr(item, "__name__", "").strip("_"),
)
def test_a_file_that_is_no_python_to_mask(make: Callable[[Path], None], said: str, fresh: TaskDir) -> None:
    """Named as the target, and lying beside one that is looked for: neither hangs nor is a bug."""
    make(fresh.root / "small-repo" / "file.py")
    assert said in mask(fresh, "file.py::f")[0]
    assert "did you mean pkg/losses.py::hinge" in mask(fresh, "pkg/lost.py::hinge")[1]
    succeed("mask", HINGE, "--retrieval", "auto", "--no-input", cwd=fresh.root)


def test_names_with_blanks_and_other_letters(fresh: TaskDir) -> None:
    path = fresh.root / "small-repo" / "ein Ordner" / "größe ’x’.py"
    path.parent.mkdir()
    path.write_text("class Maß:\n    def länge(self, ﬁt):\n        return ﬁt\n")
    before = path.read_bytes()
    target = "ein Ordner/größe ’x’.py::Maß.länge"
    assert f"did you mean {target}" in mask(fresh, "ein Ordner/größe ’x’.py::Maß.lange")[1]
    done = succeed("mask", target, "--no-input", cwd=fresh.root)
    assert f"lmr-author record '{target}'" in done.err
    assert b"raise NotImplementedError" in path.read_bytes()
    succeed("unmask", target, cwd=fresh.root)
    assert path.read_bytes() == before


def test_a_missing_file_of_instructions(fresh: TaskDir) -> None:
    error, _ = mask(fresh, HINGE, "--instruction", "@nowhere.txt", code=USAGE)
    assert "there is no file nowhere.txt" in error
    (fresh.root / "latin.txt").write_bytes("Größe".encode("latin-1"))
    assert "UTF-8" in mask(fresh, HINGE, "--instruction", "@latin.txt", code=USAGE)[0]


def test_an_unknown_category_or_retrieval_path(fresh: TaskDir) -> None:
    assert "Evaluation Metrics" in mask(fresh, HINGE, "--category", "Metrics", code=USAGE)[1]
    assert "no such file" in mask(fresh, HINGE, "--retrieval", "nowhere.py", code=USAGE)[0]
    assert "'..'" in mask(fresh, HINGE, "--retrieval", "../info.json")[1]


def test_unmask_what_is_not_masked_or_was_edited(masked: TaskDir) -> None:
    assert "is not masked" in refuse(EXPECTED, "unmask", "pkg/losses.py::Meter.add", cwd=masked.root)[0]
    goal = masked.root / "small-repo" / "pkg" / "losses.py"
    goal.write_bytes(goal.read_bytes().replace(b"self.size = size", b"self.size = size + 1"))
    error, hint = refuse(EXPECTED, "unmask", cwd=masked.root)
    assert "edited outside of the mask" in error and "--force" in hint


# record


def record(task: TaskDir, *arguments: str, code: int = EXPECTED) -> tuple[str, str]:
    return refuse(code, "record", *arguments, cwd=task.root)


def test_a_command_that_cannot_be_recorded(masked: TaskDir) -> None:
    assert "-- python driver.py" in record(masked, HINGE, code=USAGE)[1]
    assert "nowhere.py" in record(masked, HINGE, "--", "python", "nowhere.py", code=USAGE)[0]
    record(masked, HINGE, "--", "bash", "run.sh", code=USAGE)
    record(masked, HINGE, "--", "python", "-c", "print(1)", code=USAGE)
    assert "is not masked" in record(masked, "pkg/losses.py::Meter.add", "--", "python", "run.py")[0]


@pytest.mark.bwrap
def test_a_driver_that_never_calls_the_target(masked: TaskDir, tmp_path: Path) -> None:
    driver = tmp_path / "drive.py"
    driver.write_text("import pkg.losses\nprint('nothing to do')\n")
    error, hint = record(masked, "--", "python", str(driver))
    assert f"never called {HINGE}" in error
    assert "pkg/losses.py" in hint


@pytest.mark.bwrap
def test_a_driver_that_fails(masked: TaskDir, tmp_path: Path) -> None:
    driver = tmp_path / "drive.py"
    driver.write_text("import not_installed_here\n")
    assert "No module named 'not_installed_here'" in record(masked, "--", "python", str(driver))[0]


@pytest.mark.bwrap
def test_a_recording_larger_than_the_limit(masked: TaskDir, tmp_path: Path) -> None:
    driver = tmp_path / "drive.py"
    call = "try:\n    hinge(0.5, margin=['a long text'] * 5000)\nexcept TypeError:\n    pass\n"
    driver.write_text(f"from pkg.losses import hinge\n{call}")
    error, hint = record(masked, "--max-mb", "0.001", "--", "python", str(driver))
    assert "larger than the limit" in error
    assert "--max-mb" in hint


@pytest.mark.bwrap
def test_a_driver_that_takes_too_long(masked: TaskDir, tmp_path: Path) -> None:
    driver = tmp_path / "drive.py"
    driver.write_text("import time\nimport pkg.losses\ntime.sleep(100)\n")
    assert "--timeout" in record(masked, "--timeout", "1", "--", "python", str(driver))[1]


# review, export


def test_answers_that_are_none(masked: TaskDir) -> None:
    def review(*arguments: str) -> str:
        return " ".join(refuse(USAGE, "review", *arguments, cwd=masked.root))

    assert "--reviewer NAME" in review()
    assert "--answers FILE" in review("--reviewer", "ada")
    assert "there is no such file" in review("--reviewer", "ada", "--answers", "nowhere.json")
    path = masked.authoring / "answers.json"
    path.parent.mkdir(exist_ok=True)
    for document, said in (
        ([], "not an object with names"),
        ({}, "no answer for: instruction"),
        ({"beauty": "pass"}, "unknown checklist item 'beauty'"),
    ):
        path.write_text(json.dumps(document))
        assert said in review("--reviewer", "ada", "--answers", str(path))
    assert "not a reviewer's name" in review("--reviewer", "../ada", "--answers", str(path))


def test_a_bundle_that_exists(masked: TaskDir, tmp_path: Path) -> None:
    (tmp_path / "out" / masked.name).mkdir(parents=True)
    command = ("export", masked.root, "--to", "agent", "--out", "out")
    assert "exists already" in refuse(EXPECTED, *command, cwd=tmp_path)[0]


@pytest.mark.parametrize(
    "command",
    [("export", "--to", "agent", "--out", "out"), ("evaluate", "--predictions", "p.jsonl", "--out", "out")],
)
def test_two_folders_of_the_same_name(masked: TaskDir, tmp_path: Path, command: tuple[str, ...]) -> None:
    places = [tmp_path / place / masked.name for place in ("one", "two")]
    for place in places:
        shutil.copytree(masked.root, place)
    error, hint = refuse(USAGE, *command, "one", "two", cwd=tmp_path)
    assert all(place.relative_to(tmp_path).as_posix() in error for place in places)
    assert "--out of its own" in hint
    assert not (tmp_path / "out").exists()


def test_a_task_that_is_named_twice_is_exported_once(masked: TaskDir, tmp_path: Path) -> None:
    twice = (masked.root, masked.root.parent)
    succeed("export", *twice, "--to", "agent", "--out", "out", cwd=tmp_path)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [masked.name]


def test_a_bundle_that_has_no_place(masked: TaskDir) -> None:
    command = ("export", ".", "--to", "agent", "--out")
    assert "info.json is not a folder" in refuse(USAGE, *command, "info.json", cwd=masked.root)[0]
    for inside in (".", "bundles"):
        assert "lies inside the task" in refuse(USAGE, *command, inside, cwd=masked.root)[0]


# the machine


def test_docker_that_is_not_running(masked: TaskDir) -> None:
    away = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}
    command = ("record", "--sandbox", "docker", "--", "python", "run.py")
    error, hint = refuse(EXPECTED, *command, cwd=masked.root, env=away)
    assert "docker" in error.lower() and "docker" in hint.lower()
    refuse(EXPECTED, "evaluate", "--sandbox", "docker", cwd=masked.root, env=away)


def test_an_interpreter_that_does_not_exist(masked: TaskDir) -> None:
    error, _ = refuse(EXPECTED, "evaluate", "--python", "/nowhere/python", cwd=masked.root)
    assert "/nowhere/python" in error


def test_git_that_is_not_installed(tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf")
    make_repository(tmp_path / "code")
    (tmp_path / "bin").mkdir()
    flags = ("--title", "T", "--year", "2023", "--name", "x", "--no-input")
    command = ("new-task", "paper.pdf", "--repo", "./code", *flags)
    error, hint = refuse(EXPECTED, *command, cwd=tmp_path, env={"PATH": str(tmp_path / "bin")})
    assert "git" in error and "install" in hint


def test_files_that_may_not_grow(fresh: TaskDir) -> None:
    """As a full disk, but for any user: no file may be larger than 600 bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))

    command = ("mask", HINGE, "--category", "Evaluation Metrics", "--no-input")
    error, hint = refuse(
        EXPECTED, *command, cwd=fresh.root, preexec_fn=limit, env={"PYTHONDONTWRITEBYTECODE": "1"}
    )
    assert "too large" in error.lower() and "ulimit" in hint
    succeed(*command, cwd=fresh.root)


FILL = """
import json, os, shutil, subprocess, sys
from tests.cli.program import snapshot
from pathlib import Path
source, room, *command = sys.argv[1:]
folder = Path("/mnt/task")
shutil.copytree(source, folder)
before = snapshot(folder)
with open("/mnt/filler", "wb") as file:
    space = os.statvfs("/mnt")
    try:
        file.write(bytes(max(0, space.f_bavail * space.f_frsize - int(room))))
    except OSError:
        pass
done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
after = snapshot(folder)
os.unlink("/mnt/filler")
again = subprocess.run(command, cwd=folder, capture_output=True, text=True)
changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
print(json.dumps([done.returncode, done.stdout, done.stderr, changed, again.returncode]))
"""


@pytest.mark.bwrap
@pytest.mark.parametrize("room", [0, 4096])
def test_a_full_disk(room: int, fresh: TaskDir) -> None:
    """A real one: a small tmpfs in a mount namespace. The golden may be there; all else is as it was."""
    mounts = ("bwrap", "--dev-bind", "/", "/", "--size", str(512 * 1024), "--tmpfs", "/mnt")
    command = (*PROGRAM, "mask", HINGE, "--category", "Evaluation Metrics", "--no-input")
    done = subprocess.run(
        [*mounts, "--", sys.executable, "-c", FILL, str(fresh.root), str(room), *command],
        env={**ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    code, out, err, changed, again = json.loads(done.stdout or done.stderr)
    assert code == EXPECTED and out == "" and "Traceback" not in err
    assert err.count("error:") == 1 and "No space left on device" in err and "hint: free some space" in err
    whole = {"golden_files/losses_golden.py", "small-repo/pkg/losses.py"}
    assert set(changed) <= whole, changed
    assert not [name for name in changed if name.endswith(".tmp")]
    assert again == 0


# interruptions

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])


def interrupt(task: TaskDir, after: float, number: int, *arguments: str) -> bool:
    """Start a command, stop it after a while; whether it was stopped (else it was done before)."""
    process = start(*arguments, cwd=task.root)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    ended = finish(process)
    if "interrupted" not in ended.err:
        # Done before, or the signal came while Python itself was ending.
        assert ended.code in (0, -number), ended.err
        assert "next: " in ended.err or ended.out
        return False
    # Python dies of SIGINT, which a shell shows as 130, when it came inside of an exec() (as in dataclasses).
    assert ended.code in (INTERRUPTED, -signal.SIGINT), ended.err
    assert ended.out == ""
    return True


@SIGNALS
def test_mask_interrupted_at_any_moment(number: int, tmp_path: Path) -> None:
    command = ("mask", HINGE, "--category", "Evaluation Metrics", "--no-input")
    reference = make_task(tmp_path / "reference")
    before = snapshot(reference.root)
    succeed(*command, cwd=reference.root)
    complete = snapshot(reference.root)
    stopped = []
    for place, after in enumerate((0.001, 0.05, 0.12, 0.25)):
        task = make_task(tmp_path / str(place))
        stopped.append(interrupt(task, after, number, *command))
        found = snapshot(task.root)
        # Each file is as before or as after; the command, typed again, completes what was begun.
        assert all(found[name] in (before.get(name), complete.get(name)) for name in found), found
        if found != complete:
            succeed(*command, cwd=task.root)
        assert snapshot(task.root) == complete
    assert stopped[0]


def apart_from_runs(task: TaskDir) -> dict[str, str]:
    """The task as it is, without what ``record --resume`` may take up."""
    found = snapshot(task.root)
    runs = {name for name in found if name == "authoring" or name.startswith("authoring/runs")}
    return {name: what for name, what in found.items() if name not in runs}


@SIGNALS
@pytest.mark.bwrap
def test_record_interrupted_while_the_driver_runs(number: int, masked: TaskDir, tmp_path: Path) -> None:
    marker = uuid.uuid4().hex
    driver = tmp_path / f"drive_{marker}.py"
    driver.write_text(
        "import time\nfrom pkg.losses import hinge\nfor x in (0.5, 2.0, -1.0): hinge(x)\ntime.sleep(100)\n"
    )
    before, temporary = snapshot(masked.root), temporaries()
    process = start("record", HINGE, "--", "python", str(driver), cwd=masked.root)
    wait_for(lambda: len(list(masked.run_folder(1).rglob("inputs.json"))) == 3)
    process.send_signal(number)
    ended = finish(process)
    assert ended.code in (INTERRUPTED, -signal.SIGINT) and ended.out == ""
    assert "interrupted" in ended.err
    assert apart_from_runs(masked) == before
    assert len(list(masked.run_folder(1).rglob("inputs.json"))) == 3  # for --resume
    wait_for(lambda: not processes_with(marker), 10)
    assert temporaries() <= temporary
    succeed("record", HINGE, "--", "python", "run.py", cwd=masked.root)


@SIGNALS
@pytest.mark.bwrap
def test_record_interrupted_at_any_moment(number: int, masked: TaskDir, tmp_path: Path) -> None:
    before, temporary = snapshot(masked.root), temporaries()
    for after in (0.001, 0.3, 0.8):
        if not interrupt(masked, after, number, "record", HINGE, "--", "python", "run.py"):
            break
        assert apart_from_runs(masked) == before
    assert temporaries() <= temporary


@SIGNALS
@pytest.mark.bwrap
def test_evaluate_interrupted_at_any_moment(number: int, finished: TaskDir) -> None:
    finished.evaluation_path.unlink()
    before, temporary = snapshot(finished.root), temporaries()
    for after in (0.001, 0.7, 1.6):
        if not interrupt(finished, after, number, "evaluate", "--format", "json"):
            break
        assert snapshot(finished.root) == before
    assert temporaries() <= temporary
    assert processes_with(str(finished.root)) == []


def test_new_task_interrupted(tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf")
    make_repository(tmp_path / "code", {f"data/{n}.txt": "x" * 1000 for n in range(300)})
    flags = ("--title", "T", "--year", "2023", "--name", "x", "--offline", "--no-input")
    for after in (0.001, 0.3, 0.5):
        before = snapshot(tmp_path)
        stopped = interrupt(
            TaskDir(tmp_path), after, signal.SIGINT, "new-task", "paper.pdf", "--repo", "./code", *flags
        )
        if not stopped:
            break
        found = snapshot(tmp_path)
        if "tasks/1-x/info.json" in found:  # the signal came after the task was whole
            assert sorted(os.listdir(tmp_path / "tasks")) == ["1-x"]
            break
        assert found == before


def temporaries() -> set[str]:
    """Temporary files and folders of ours."""
    return {name for name in os.listdir(TEMPORARY) if name.startswith("lmr-author-")}

"""The annotator's command: what of it runs in the sandbox, what has to come along, and what is shown of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author import resources
from lmr_author.errors import UsageError
from lmr_author.recording.drivers import DRIVER, Driver, read_command
from lmr_author.sandbox.base import Mount


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two scripts, beside a folder with a driver and one of the same name as theirs."""
    for name in ("repo/train.py", "repo/tools/run.py", "here/driver.py", "here/train.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path / "repo"


def read(repository: Path, *command: str) -> Driver:
    return read_command(command, repository, repository.parent / "here")


@pytest.mark.parametrize(
    ("command", "arguments", "shown"),
    [
        (("python", "train.py", "--lr", "1"), ("train.py", "--lr", "1"), ("python", "train.py", "--lr", "1")),
        (("/usr/bin/python3.11", "train.py"), ("train.py",), ("python", "train.py")),
        (("tools/run.py", "-c"), ("tools/run.py", "-c"), ("python", "tools/run.py", "-c")),
        (("python", "-m", "tools.run", "x.py"), ("-m", "tools.run", "x.py"), ("python", "-m", "tools.run", "x.py")),
        (("pytest", "-q"), ("-m", "pytest", "-q"), ("python", "-m", "pytest", "-q")),
    ],
)  # fmt: skip
def test_what_lies_in_the_repository_runs_from_there(
    command: tuple[str, ...], arguments: tuple[str, ...], shown: tuple[str, ...], repository: Path
) -> None:
    assert read(repository, *command) == Driver(arguments, (), shown)


def test_a_script_beside_it_comes_along_with_its_folder(repository: Path) -> None:
    here = repository.parent / "here"
    for named in ("driver.py", str(here / "driver.py")):
        found = read(repository, "python", named, "x")
        assert found.arguments[-2:] == (f"{DRIVER}/driver.py", "x")
        assert found.mounts == (Mount(here, DRIVER),)
        assert found.shown[-2:] == ("driver.py", "x"), "no path of this machine"


def test_a_script_named_by_its_whole_path_is_the_repositorys(repository: Path) -> None:
    found = read(repository, "python", str(repository / "tools" / "run.py"))
    assert found == Driver(("tools/run.py",), (), ("python", "tools/run.py"))


def test_a_link_out_of_the_repository_is_what_it_leads_to(repository: Path) -> None:
    (repository / "link.py").symlink_to("../here/driver.py")
    found = read(repository, "python", "link.py")
    assert (found.arguments, found.shown) == ((f"{DRIVER}/driver.py",), ("python", "driver.py"))
    assert found.mounts == (Mount(repository.parent / "here", DRIVER),)


def test_of_a_home_folder_the_script_comes_alone(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = repository.parent / "here"
    monkeypatch.setenv("HOME", str(here))
    assert read(repository, "python", "driver.py").mounts == (
        Mount(here / "driver.py", f"{DRIVER}/driver.py"),
    )


def test_paths_in_the_drivers_folder_are_changed_to_what_they_are_inside(repository: Path) -> None:
    here = repository.parent / "here"
    (here / "my data").mkdir()
    data = str(here / "my data")
    found = read(
        repository, "python", "driver.py", data, f"--data={data}", "--in", "./my data", "../repo/train.py"
    )

    inside = f"{DRIVER}/my data"
    assert found.arguments[-5:] == (inside, f"--data={inside}", "--in", inside, "train.py")
    assert found.shown[-5:] == ("my data", "--data=my data", "--in", "my data", "train.py")
    assert found.unseen == ()


def test_paths_that_the_sandbox_has_nowhere_are_told(repository: Path) -> None:
    aside = repository.parent / "aside"
    aside.mkdir()

    found = read(repository, "python", "train.py", str(aside), "--data=../aside", "../nowhere", "/", "a/b=c")

    assert found.unseen == (aside, aside)
    assert found.arguments[1:] == (str(aside), "--data=../aside", "../nowhere", "/", "a/b=c")


def test_what_the_repository_has_is_left_as_it_is(repository: Path) -> None:
    (repository.parent / "here" / "tools").mkdir()
    (repository.parent / "here" / "tools" / "run.py").write_text("")
    found = read(repository, "python", "train.py", "tools/run.py")
    assert (found.arguments, found.unseen) == (("train.py", "tools/run.py"), ())


def test_variables_in_front_are_set(repository: Path) -> None:
    found = read(repository, "SEED=1", "OPTIONS=a=b", "EMPTY=", "python", "train.py", "X=2")
    assert found.env == {"SEED": "1", "OPTIONS": "a=b", "EMPTY": ""}
    assert found.arguments == ("train.py", "X=2")
    assert found.shown == ("SEED=1", "OPTIONS=a=b", "EMPTY=", "python", "train.py", "X=2")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ((), "no command to record"),
        (("A=1",), "no command to record"),
        (("python",), "name a script or a module to run"),
        (("python", "-c", "import this"), "name a script or a module to run"),
        (("python", "-m"), "-m needs a module"),
        (("python", "-u", "train.py"), "python's option -u"),
        (("python", "nowhere.py"), "there is no script 'nowhere.py' in repo/"),
        (("python", "/tmp/none/nowhere.py"), "there is no script /tmp/none/nowhere.py$"),
        (("python", "tools"), "there is no script 'tools'"),
        (("torchrun", "--nproc", "1", "train.py"), "torchrun --nproc 1 starts the script in other processes"),
        (("python", "-m", "torch.distributed.launch", "train.py"), "which are not recorded"),
        (("bash", "run.sh"), "'bash' is not a Python command"),
        (("2=3", "train.py"), "'2=3' is not a Python command"),
    ],
)
def test_what_cannot_be_recorded_is_refused(command: tuple[str, ...], said: str, repository: Path) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read(repository, *command)
    assert caught.value.hint


PARSES = """\
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=2.0)
args = parser.parse_args()


def scale(x):
    return x * args.rate
"""


def test_a_file_that_parses_the_command_line_sees_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PARSES)
    (tmp_path / "request.json").write_text(json.dumps({"goal_file": "train.py", "examples": ["scale(3)"]}))

    run = subprocess.run(
        [sys.executable, "-m", f"{resources.probe_folder().name}.drivers", "examples", "request.json"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(resources.probe_folder().parent)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (run.returncode, run.stderr) == (0, "")


def test_an_example_for_a_file_that_is_named_as_its_package(tmp_path: Path) -> None:
    (tmp_path / "same").mkdir()
    (tmp_path / "same/__init__.py").write_text("from same.same import double\n")
    (tmp_path / "same/same.py").write_text("def double(x):\n    return 2 * x\n")
    code = "from lmr_author.probe.drivers import import_goal as f; print(f(sys.argv[1], 'same/same.py').double(4))"
    command = [sys.executable, "-c", f"import sys; sys.path.append(sys.argv[1]); {code}", str(tmp_path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("8\n", "")

"""The annotator's command: what of it runs in the sandbox, what has to come along, and what is shown of it."""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.authoring.recording.driver import DRIVER, UNCOMPILED, Driver, read_command, switches
from lmr_author.core import resources
from lmr_author.core.errors import UsageError
from lmr_author.runtime.sandbox.base import Mount
from tests.evaluation.foreign import PLAIN_PYTHON
from tests.support import write_files


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two scripts, beside a folder with a driver and one of the same name as theirs."""
    names = ("repo/train.py", "repo/tools/run.py", "here/driver.py", "here/train.py")
    write_files(tmp_path, dict.fromkeys(names, ""))
    return tmp_path / "repo"


def read(repository: Path, *command: str) -> Driver:
    return read_command(command, repository, repository.parent / "here")


SCRIPT = f"{DRIVER}/driver.py"


@pytest.mark.parametrize(
    ("command", "arguments", "shown"),
    [
        ("python train.py --lr 1", ["train.py", "--lr", "1"], ["python", "train.py", "--lr", "1"]),
        ("/usr/bin/python3.11 train.py", ["train.py"], ["python", "train.py"]),
        ("tools/run.py -c", ["tools/run.py", "-c"], ["python", "tools/run.py", "-c"]),
        ("python -m tools.run x.py", ["-m", "tools.run", "x.py"], ["python", "-m", "tools.run", "x.py"]),
        ("pytest -q", ["-m", "pytest", "-q"], ["python", "-m", "pytest", "-q"]),
        ("python {root}/repo/tools/run.py", ["tools/run.py"], ["python", "tools/run.py"]),
        ("python train.py tools/run.py", ["train.py", "tools/run.py"], ["python", "train.py", "tools/run.py"]),
        ("python driver.py x", [SCRIPT, "x"], ["python", "driver.py", "x"]),
        ("python {root}/here/driver.py x", [SCRIPT, "x"], ["python", "driver.py", "x"]),
        ("python link.py", [SCRIPT], ["python", "driver.py"]),
    ],
)  # fmt: skip
def test_what_runs_in_the_sandbox_and_what_is_shown(
    command: str, arguments: list[str], shown: list[str], repository: Path
) -> None:
    """What lies in the repository runs from there; a script beside it comes along with its folder."""
    here = repository.parent / "here"
    write_files(here, {"tools/run.py": ""})
    (repository / "link.py").symlink_to("../here/driver.py")
    found = read(repository, *shlex.split(command.format(root=repository.parent)))
    mounts = (Mount(here, DRIVER),) if SCRIPT in arguments else ()
    assert found == Driver(tuple(arguments), mounts, tuple(shown))


def test_of_a_home_folder_the_script_comes_alone(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = repository.parent / "here"
    monkeypatch.setenv("HOME", str(here))
    assert read(repository, "python", "driver.py").mounts == (Mount(here / "driver.py", SCRIPT),)


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
        (("python", "-m"), "name a script or a module to run"),
        (("python", "-u", "train.py"), "name a script or a module to run"),
        (("python", "nowhere.py"), "there is no script nowhere.py"),
        (("python", "/tmp/none/nowhere.py"), "there is no script /tmp/none/nowhere.py"),
        (("python", "tools"), "there is no script tools"),
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
        [PLAIN_PYTHON, "-m", f"{resources.probe_folder().name}.drivers", "examples", "request.json"],
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
    load = "from lmr_author.runtime.probe.drivers import import_goal"
    code = f"{load}; print(import_goal(sys.argv[1], 'same/same.py').double(4))"
    command = [sys.executable, "-c", f"import sys; sys.path.append(sys.argv[1]); {code}", str(tmp_path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("8\n", "")


@pytest.mark.parametrize(
    ("decorator", "compiled"),
    [
        ("njit()", True),
        ("nb.vectorize(['f8(f8)'])", True),
        ("torch.jit.script", True),
        ("torch.compile(dynamic=True)", True),
        ("partial(jax.jit, static_argnums=0)", True),
        ("torch.no_grad()", False),
        ("compiled_later", False),
    ],
)
def test_a_compiler_is_known_by_the_decorator(decorator: str, compiled: bool) -> None:
    (function,) = ast.parse(f"@{decorator}\ndef f(x): ...").body
    assert isinstance(function, ast.FunctionDef)
    assert switches(function) == (UNCOMPILED if compiled else {})

"""The rows of the package's ``failures.toml`` on the logs of this folder's: each gives its row, cause and remedy."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from lmr_author.runtime.environment.failures import Failure, explain, explain_command, rows

CASES = tomllib.loads((Path(__file__).parent / "failures.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_log_gives_its_row(name: str) -> None:
    case = CASES[name]
    found = explain(Failure(case["stage"], case.get("where", "RUN something"), case["log"]))
    assert found is not None
    assert found.name == case["row"]
    assert case["cause"] in found.cause
    assert case["remedy"] in found.advice
    assert not re.search(r"\{\w*\}|  ", found.cause + found.advice)


def test_every_row_has_a_log() -> None:
    names = {row["name"] for stage in ("build", "import", "script") for _, row in rows(stage)}  # type: ignore[arg-type]
    assert names == {case["row"] for case in CASES.values()}


@pytest.mark.parametrize("stage", ["build", "install", "import", "script"])
def test_an_unknown_failure_is_not_explained(stage: str) -> None:
    assert explain(Failure(stage, "RUN make", "the flux capacitor is empty")) is None  # type: ignore[arg-type]


PYTHON = Path("/home/me/env/bin/python")
TRACE = 'Traceback (most recent call last):\n  File "driver.py", line 1, in <module>\n'
ABI = "ValueError: numpy.dtype size changed, may indicate binary incompatibility."
CV2 = "ModuleNotFoundError: No module named 'cv2'"
YAML = "ModuleNotFoundError: No module named 'yaml'"
LIBGL = "ImportError: libGL.so.1: cannot open shared object file: No such file or directory"
CUDA = "OSError: libcudart.so.11.0: cannot open shared object file: No such file or directory"
NEWER = (
    '  File "/x/lib/python3.11/site-packages/aiohttp/helpers.py", line 9\n    yield from asyncio.async(x)\n'
    "SyntaxError: invalid syntax"
)


def told(said: str, *, in_image: bool = False, python: Path | None = None) -> str:
    """The explanation of a traceback that ends in these lines."""
    return str(explain_command(TRACE + said, in_image=in_image, python=python))


@pytest.mark.parametrize(
    ("said", "cause", "image", "own", "named"),
    [
        (CV2, "cv2 is not installed", "lock --with opencv-python-headless`", "local --with=opencv-python-headless`",
         f"uv pip install --python {PYTHON} opencv-python-headless"),
        (ABI, "it requires NumPy 1, but NumPy 2 is installed", "lock --with 'numpy<2'`", "local '--with=numpy<2'`",
         f"uv pip install --python {PYTHON} 'numpy<2'"),
        (NEWER, "the version of aiohttp has syntax", "env lock --with 'aiohttp>", "--sandbox docker", "--python"),
        (LIBGL, "the system library libGL.so.1 is missing", "`RUN apt-get update", "apt-get install libgl1", "apt-get"),
        (CUDA, "libcudart.so.11.0 is missing", "use an environment with that CUDA", "--sandbox docker", "--python"),
        ("AssertionError: Torch not compiled with CUDA enabled", "the code requires", "device='cpu'", "cpu", "cpu"),
    ],
)  # fmt: skip
def test_a_cause_and_what_repairs_it(said: str, cause: str, image: str, own: str, named: str) -> None:
    for text, repair in (
        (told(said, in_image=True), image),
        (told(said), own),
        (told(said, python=PYTHON), named),
    ):
        assert text.startswith(cause) and repair in text


@pytest.mark.parametrize(
    ("said", "made_by", "command"),
    [
        (ABI, ["--python=3.11", "--with=torch==2.13.0", "--with=numpy==1.26.0"],
         "--python=3.11 --with=torch==2.13.0 '--with=numpy<2'`"),
        *((YAML, ["--python=3.11", f"--with={spelt}"], "--python=3.11 --with=PyYAML`")
          for spelt in ("pyyaml==5.3", "PyYAML[x] <6", "pyYaml @ https://example.org/y.zip")),
    ],
)  # fmt: skip
def test_the_command_that_repairs_an_environment_asks_for_everything_again(
    said: str, made_by: list[str], command: str
) -> None:
    told = str(explain_command(TRACE + said, in_image=False, python=None, made_by=made_by))
    assert f"`lmr-author env local {command}" in told


def test_what_is_locked_is_not_locked_again() -> None:
    def told(*, in_image: bool, python: Path | None) -> str:
        hint = explain_command(
            TRACE + YAML, lock="pyyaml==6.0.1\n", made_by=["--python=3.11"], in_image=in_image, python=python
        )
        return str(hint)

    assert told(in_image=False, python=None).endswith(
        "although it is in requirements.lock: `lmr-author env local --python=3.11`"
    )
    assert told(in_image=True, python=None).endswith("is in requirements.lock: `lmr-author env build`")
    assert f"uv pip install --python {PYTHON} PyYAML" in told(in_image=False, python=PYTHON)


@pytest.mark.parametrize(
    "text",
    [
        # Of such a module nothing is known: it is told elsewhere.
        *(
            f"{TRACE}ModuleNotFoundError: No module named '{name}'"
            for name in ("absent_library", "torch", "apex")
        ),
        # The driver's own mistakes.
        f"{TRACE}ValueError: no data",
        f"{TRACE}SyntaxError: invalid syntax",
        f"{TRACE}FileNotFoundError: [Errno 2] No such file or directory: 'data.json'",
        # What was only printed.
        f"W: Could not load dynamic library 'libcudart.so.11.0'\n{TRACE}ValueError: no data",
        f"{TRACE}{CV2}\ngoing on without it\n{TRACE}ValueError: no data",
    ],
)
@pytest.mark.parametrize("in_image", [True, False])
def test_what_is_not_the_environments_fault(text: str, in_image: bool) -> None:
    assert explain_command(text, in_image=in_image, python=None).text == ""


def test_the_chain_that_led_to_the_last_exception_counts() -> None:
    during = "\nDuring handling of the above exception, another exception occurred:\n\n"
    assert "cv2 is not" in told(f"{CV2}\n{during}{TRACE}RuntimeError: install the extras")
    both = f"ModuleNotFoundError: No module named 'tomllib'\n{during}{TRACE}{CV2}"
    assert told(both).startswith("cv2 is not")


LOCK = "# options: --without deepspeed\nnumpy==2.1.0\nfasttext==0.9.2\n"


@pytest.mark.parametrize(
    ("stage", "said", "command"),
    [
        ("import", "numpy.dtype size changed", "`lmr-author env lock --without deepspeed --with 'numpy<2'`"),
        ("install", "Failed building wheel for fasttext", "--without deepspeed --with 'fasttext>0.9.2'`"),
        ("build", "╰─> fasttext\nerror: use_2to3 is invalid", "--no-build-isolation 'fasttext==0.9.2'`"),
    ],
)
def test_the_remedy_repeats_the_locks_options_and_knows_its_versions(
    stage: str, said: str, command: str
) -> None:
    found = explain(Failure(stage, "RUN pip", said, lock=LOCK))  # type: ignore[arg-type]
    assert found is not None and command in found.advice


@pytest.mark.parametrize(
    ("module", "lock", "command"),
    [
        ("tensorflow.contrib", "tensorflow==2.4.1\n", "--with 'tensorflow<2'"),
        ("oddlib.old", "oddlib==2.0\n", "--with 'oddlib<2.0'"),
    ],
)
def test_a_module_that_an_installed_package_lacks_asks_for_another_version(
    module: str, lock: str, command: str
) -> None:
    said = str(explain_command(f"{TRACE}No module named '{module}'", in_image=True, python=None, lock=lock))
    assert command in said and "although it is in requirements.lock" not in said

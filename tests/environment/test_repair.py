"""Changes of a Dockerfile and a lock."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lmr_author.environment.failures import Fix
from lmr_author.environment.lock_file import entries, requirements, with_requirement, without_requirement
from lmr_author.environment.repair import MARK, Texts, changed, with_packages

DOCKERFILE = (
    "ARG BASE=a\nFROM ${BASE}\nUSER 0\n\n# The lock.\nCOPY requirements.lock /l\nRUN pip install -r /l\n"
)
LOCK = "# pinned\nanyio==1\nnumpy==2.1.0\nzipp==3\n"
INDEX = {
    "numpy<2": ["numpy==1.26.4"],
    "zipp-wheel": ["zipp-wheel==3"],
    "setuptools<58": ["setuptools==57.5"],
    "opencv-python-headless": ["numpy==1.26.4", "opencv-python-headless==4.8"],
}
LATER = {"zipp>3": ["more==1", "zipp==4"]}
EARLIER = {"zipp<3": ["anyio==0", "numpy==1.0", "zipp==2"]}


def change(fix: Fix, texts: Texts | None = None) -> Texts | None:
    """The texts with a change made; None where there is none. The index is as of the day that the change asks for."""
    texts = texts or Texts(DOCKERFILE, LOCK)
    index = LATER if fix.kind == "newer" else EARLIER if fix.kind == "older" else INDEX

    def resolve(wanted: tuple[str, ...], pins: tuple[str, ...]) -> list[str]:
        """The earlier zipp needs an earlier anyio; what else is held is kept."""
        kept = {pin.partition("==")[0]: pin for pin in pins if pin != "anyio==1"}
        known = [line for text in wanted for line in index.get(text, [])]
        return [kept.get(line.partition("==")[0], line) for line in known]

    after = changed(fix, texts, resolve, lambda pin: "numpy==2.1.2" if pin == "numpy==2.1.0" else "")
    return None if after == texts else after


def test_packages_get_an_instruction_before_the_first_that_needs_them() -> None:
    after = change(Fix("system", ("git", "libgl1")))
    assert after is not None and after.lock == LOCK
    lines = after.dockerfile.splitlines()
    assert lines[4] == MARK and "install -y --no-install-recommends git libgl1" in after.dockerfile
    assert lines.index("# The lock.") > lines.index(MARK)
    assert (
        after.dockerfile.replace(
            after.dockerfile[after.dockerfile.index(MARK) : after.dockerfile.index("# The")], ""
        )
        == DOCKERFILE
    )
    assert change(Fix("system", ("git",)), after) is None, "it is there already"


def test_a_version_without_a_wheel_gives_way_to_the_next_that_has_one() -> None:
    after = change(Fix("wheel", ("numpy",)))
    assert after is not None and after.lock == LOCK.replace("numpy==2.1.0", "numpy==2.1.2")
    assert change(Fix("wheel", ("zipp",))) is None, "there is none"
    hashed = LOCK.replace("numpy==2.1.0", "numpy==2.1.0 \\\n    --hash=sha256:0")
    assert change(Fix("wheel", ("numpy",)), Texts(DOCKERFILE, hashed)) is None, "its hash is not known"


COPIED = (
    "FROM a\nCOPY requirements.lock /opt/lmr-author/requirements.lock\n# All of it.\nRUN pip install -r /l\n"
)


def test_a_package_is_built_apart_after_the_lock_is_there_and_before_it_is_installed() -> None:
    after = change(Fix("built-with", ("zipp", "setuptools<58", "numpy")), Texts(COPIED, LOCK))
    assert after is not None and after.lock == LOCK
    copied, _, block = after.dockerfile.partition(f"\n{MARK}\n")
    assert copied == "FROM a\nCOPY requirements.lock /opt/lmr-author/requirements.lock\n"
    assert block.endswith("    fi\n\n# All of it.\nRUN pip install -r /l\n")
    assert "sed -n '/^zipp==/p' /opt/lmr-author/requirements.lock" in block, "whatever version the lock has"
    # The index's setuptools, and the lock's numpy.
    assert "--target /opt/lmr-author/build 'numpy==2.1.0' 'setuptools==57.5';" in block
    assert "pip install --no-deps --no-build-isolation" in block
    assert change(Fix("built-with", ("zipp", "setuptools<65")), after) is None, "it is built apart already"


def test_a_package_is_built_apart_only_where_that_can_work() -> None:
    wanted = Fix("built-with", ("zipp", "setuptools<58"))
    assert change(wanted) is None, "the Dockerfile copies its lock elsewhere"
    assert change(Fix("built-with", ("absent", "numpy")), Texts(COPIED, LOCK)) is None
    assert change(Fix("built-with", ("zipp", "unheard-of")), Texts(COPIED, LOCK)) is None
    assert change(wanted, Texts(COPIED, LOCK.replace("==3", "==3 \\\n    --hash=sha256:0"))) is None


SEVERAL_LINES = "RUN apt-get update && \\\n    apt-get install -y --no-install-recommends \\\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "RUN apt-get update && apt-get install -y git\n",
            "RUN apt-get update && apt-get install -y libgl1 git\n",
        ),
        (
            f"{SEVERAL_LINES}        git \\\n        wget\n",
            f"{SEVERAL_LINES}        libgl1 git \\\n        wget\n",
        ),
    ],
)
def test_packages_join_those_that_are_installed(before: str, after: str) -> None:
    assert with_packages(f"FROM a\n{before}", ("libgl1", "git")) == f"FROM a\n{after}"


def test_the_last_stage_is_changed() -> None:
    after = with_packages("FROM a\nRUN x\nFROM b\nRUN y", ("git",))
    assert after.index("apt-get") > after.index("FROM b") and after.index("apt-get") < after.index("RUN y")


def test_variables_and_mirrors() -> None:
    after = change(Fix("variable", ("A=1",)))
    assert after is not None and f"{MARK}\nENV A=1\n" in after.dockerfile
    assert change(Fix("variable", ("A=1",)), after) is None
    manuals = change(Fix("manual-pages"))
    assert manuals is not None and f"{MARK}\nRUN mkdir -p /usr/share/man/man1\n" in manuals.dockerfile
    mirrors = change(Fix("archive"))
    assert mirrors is not None and "archive.debian.org" in mirrors.dockerfile


def test_a_requirement_replaces_its_like_and_brings_only_what_is_not_there() -> None:
    after = change(Fix("requirements", ("numpy<2",)))
    assert after is not None and after.lock == "# pinned\nanyio==1\nnumpy==1.26.4\nzipp==3\n"
    after = change(Fix("requirements", ("opencv-python-headless",)))
    assert after is not None
    assert after.lock == "# pinned\nanyio==1\nnumpy==2.1.0\nopencv-python-headless==4.8\nzipp==3\n"


def test_nothing_is_changed_without_a_version_for_it() -> None:
    assert change(Fix("requirements", ("unheard-of",))) is None
    assert change(Fix("requirements", ("numpy<2",)), Texts(DOCKERFILE, "numpy==1.20.0\n")) is None, (
        "it fits already"
    )
    hashed = "numpy==2.1.0 \\\n    --hash=sha256:ab\n"
    assert change(Fix("requirements", ("numpy<2",)), Texts(DOCKERFILE, hashed)) is None


def test_a_package_gives_way_to_another_that_brings_its_module() -> None:
    after = change(Fix("instead", ("zipp", "zipp-wheel")))
    assert after is not None
    told = "# zipp==3 is left out: zipp-wheel is taken in its place"
    assert after.lock == f"# pinned\nanyio==1\nnumpy==2.1.0\n{told}\nzipp-wheel==3\n"
    assert change(Fix("instead", ("absent", "zipp-wheel"))) is None
    assert change(Fix("instead", ("zipp", "unheard-of"))) is None


def test_a_later_version_brings_what_it_needs() -> None:
    after = change(Fix("newer", ("zipp",)))
    assert after is not None and after.lock == "# pinned\nanyio==1\nmore==1\nnumpy==2.1.0\nzipp==4\n"
    assert change(Fix("newer", ("numpy",))) is None, "there is none"
    assert change(Fix("newer", ("absent",))) is None


def test_an_earlier_version_takes_along_what_does_not_fit_it() -> None:
    after = change(Fix("older", ("zipp",)))
    assert after is not None and after.lock == "# pinned\nanyio==0\nnumpy==2.1.0\nzipp==2\n"
    assert change(Fix("older", ("numpy",))) is None, "there is none"


DATACLASSES = """
from dataclasses import dataclass, field
@dataclass
class Inner:
    x: int = 1
@dataclass
class Outer:
    one: Inner = Inner()
    two: Inner = field(default=Inner(2))
assert Outer() == Outer(Inner(1), Inner(2)) and Inner.__hash__ is None
try:
    @dataclass
    class Refused:
        x: list = []
except ValueError:
    pass
else:
    raise AssertionError("what every Python refuses")
"""


def test_the_names_that_python_no_longer_has_are_given_back() -> None:
    after = change(Fix("old-names"))
    assert after is not None and change(Fix("old-names"), after) is None, "once"
    begin = after.dockerfile.index("RUN set -eu")
    script = after.dockerfile[begin:].removeprefix("RUN ").partition("\n\n")[0].replace("\\\n", "")
    with tempfile.TemporaryDirectory() as folder:
        # Only the folder differs from what the image runs.
        script = re.sub(r"place=\$\(.*?\);", f"place={shlex.quote(folder)};", script)
        subprocess.run(["sh", "-c", script], check=True)
        program = (
            "import lmr_old_names, collections, inspect, fractions, time\n"
            "assert collections.Mapping is collections.abc.Mapping\n"
            "assert inspect.getargspec(lambda a, *b, c=1: 0).args == ['a']\n"
            "assert fractions.gcd(4, 6) == 2 and time.clock() > 0\n"
            f"{DATACLASSES}"
        )
        environment = {**os.environ, "PYTHONPATH": folder}
        assert subprocess.run([sys.executable, "-c", program], env=environment).returncode == 0
        assert (Path(folder) / "lmr_old_names.pth").read_text() == "import lmr_old_names\n"


def test_entries_keep_every_character() -> None:
    text = "# a \\\nb==1 \\\n    --hash=sha256:1 \\\n    --hash=sha256:2\n"
    text += "--index-url x\n\nC.d==2 ; python_version<'4'\n"
    assert "".join(line for _, line in entries(text)) == text
    assert [name for name, _ in entries(text) if name] == ["b", "c-d"]
    assert requirements(text) == ["C.d==2 ; python_version<'4'", "b==1"]
    assert without_requirement(text, "b", "why").splitlines()[1] == "# b==1 is left out: why"
    assert with_requirement("", "a==1") == "a==1\n"

"""Pinning as of a date, with the real uv, in its sandbox, and a small package index."""

from __future__ import annotations

import io
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lmr_author.runtime.environment import resolver, uv_command
from lmr_author.runtime.environment.base_images import choose_base
from lmr_author.runtime.environment.lock_file import Lock, LockOptions
from lmr_author.runtime.environment.needs import DeclaredNeed, Needs
from lmr_author.runtime.environment.pinning import pin
from tests.servers import Release, package_index
from tests.wheels import wheel

INDEX = {
    "loss": [
        Release("1.0", "2023-01-01", ("maths>=1", "torch>=1.8", "nvidia-cudnn-cu12")),
        Release("2.0", "2023-07-01", ("maths>=2",)),
        Release("3.0", "2024-07-01"),
    ],
    "maths": [Release("1.0", "2022-01-01"), Release("1.5", "2023-05-01"), Release("2.0", "2023-07-02")],
    "own": [Release("1.0", "2022-01-01")],
    "needs-own": [Release("1.0", "2022-01-01", ("own",))],
    "needs-old": [Release("1.0", "2022-01-01", ("maths<1",))],
    "odd": [Release("1.0", "2022-01-01", ("maths==2.0",))],
    "undated": [Release("1.0", "")],
    # A pre-release that a dependency names; an earlier version, of which there is only the source, is in the way, too.
    "engine": [
        Release("0.2", "2019-01-01", wheel=False),
        Release("0.18", "2021-01-01", ("traces==0.48b0",)),
    ],
    "traces": [Release("0.40b0", "2020-01-01"), Release("0.48b0", "2021-01-01")],
    "user": [Release("1.0", "2022-01-01", ("filelock", "typing-extensions"))],
    "numpy": [Release("1.26", "2022-01-01"), Release("2.1", "2022-02-01")],
    "frames": [
        Release("1.0", "2022-01-01", requires=("numpy",)),
        Release("2.0", "2022-02-01", requires=("numpy>=2",)),
    ],
    "filelock": [Release("3.0", "2022-01-01")],
    "typing-extensions": [Release("4.0", "2022-01-01")],
    **{name: [Release("1.0", "2022-01-01", wheel=False)] for name in ("old", "flash-attn")},
}
FROZEN = ("certifi", "idna", "six", *(f"p{number}" for number in range(15)))
"""An environment as `pip freeze` lists it."""
INDEX |= {name: [Release("1.0", "2022-01-01")] for name in FROZEN}
PINS = [f"{name}==1.0" for name in FROZEN]


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)


def resolve(
    monkeypatch: pytest.MonkeyPatch,
    *requirements: str,
    date: str = "2023-06-01",
    guessed: str = "",
    project: str = "",
    seconds: float = 60,
    torch: str = "",
    python: str = "",
) -> Lock:
    declared = [DeclaredNeed(Requirement(text).name, text, "r.txt:1") for text in requirements]
    declared += [DeclaredNeed(guessed, guessed, "import", guessed=True)] if guessed else []
    image = (DeclaredNeed("torch", f"torch=={torch}", "r.txt:1"),) if torch else ()
    day = datetime.fromisoformat(date).replace(tzinfo=UTC)
    needs = Needs(tuple(declared), torch=image, date=day, project=project)
    base = choose_base(needs, "me/base:1", python) if python else choose_base(needs)
    with package_index(INDEX) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", address)
        return pin(needs, base, LockOptions(seconds=seconds))


def lines(made: Lock) -> list[str]:
    return [line for line in made.text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    ("wanted", "options", "pinned", "said"),
    [
        # Neither torch nor CUDA's libraries, which the base image brings, though the package asks for them.
        (["loss"], {}, ["loss==1.0", "maths==1.5"], "# pinned as of 2023-06-01"),
        (["loss"], {"date": "2023-12-01"}, ["loss==2.0", "maths==2.0"], "# pinned as of 2023-12-01"),
        (["loss==3.0", "maths"], {}, ["loss==3.0", "maths==1.5"], "# loss is newer than the commit"),
        (["loss", "gone==1"], {"guessed": "guess"}, ["loss==1.0", "maths==1.5"],
         "# gone==1 (r.txt:1) is left out: it is not on the package index"),
        (["loss"], {"guessed": "needs-old"}, ["loss==1.0", "maths==1.5"], "nobody declares it"),
        # The repository's own package does not come in by another.
        (["needs-own"], {"project": "own"}, ["needs-own==1.0"], ""),
        (["needs-own"], {}, ["needs-own==1.0", "own==1.0"], ""),
        # PyTorch is no part of the resolution: what it was built for bounds other packages.
        (["frames"], {"torch": "2.0.1"}, ["frames==1.0", "numpy==1.26"], "# numpy<2: PyTorch 2.0.1 is built for"),
        (["frames"], {"torch": "1.13.1"}, ["frames==1.0", "numpy==1.26"], "# numpy<2: PyTorch 1.13.1 is built"),
        (["frames"], {"torch": "2.5.1"}, ["frames==2.0", "numpy==2.1"], ""),
        (["numpy==2.1"], {"torch": "2.0.1"}, ["numpy==2.1"], "that do not fit here are not used: numpy<2"),
        # PyTorch's requirements are left to the image, where the repository uses PyTorch.
        (["user"], {}, ["filelock==3.0", "typing-extensions==4.0", "user==1.0"], ""),
        (["user"], {"torch": "1.12.1"}, ["filelock==3.0", "user==1.0"], ""),
        (["user"], {"torch": "2.0.1"}, ["user==1.0"], ""),
        (["engine"], {}, ["engine==0.18", "traces==0.48b0"], ""),
        # A freeze that contradicts itself is installed as it is.
        ([*PINS, "odd==1.0", "maths==1.0"], {}, sorted([*PINS, "odd==1.0", "maths==1.0"]), "whole environment"),
        # Code older than the image's Python gets packages made for that.
        (["maths"], {"date": "2020-06-01", "python": "3.11"}, ["maths==1.0"],
         "# CHANGED: versions as of 2023-04-22 in place of 2020-06-01"),
        (["maths", "undated"], {}, ["maths==1.5", "undated==1.0"],
         "# undated may be newer than the commit: the package index gives no upload date of it"),
        (["undated>=1"], {}, ["undated==1.0"],
         "# CHANGED: today's versions: the package index gives no upload dates"),
        (["loss==2.0"], {"seconds": 0}, ["loss==2.0"], "the package index was not asked"),
    ],
)  # fmt: skip
def test_versions_are_those_of_the_day(
    monkeypatch: pytest.MonkeyPatch, wanted: list[str], options: dict[str, str], pinned: list[str], said: str
) -> None:
    made = resolve(monkeypatch, *wanted, **options)  # type: ignore[arg-type]
    assert (made.pinned, lines(made)) == (True, pinned)
    assert said in made.text


@pytest.mark.parametrize(
    ("wanted", "seconds", "said"),
    [
        (["loss==1.0", "maths<1"], 60, "# NOT pinned: no versions fit together"),
        (["loss"], 0, "# NOT pinned: the package index was not asked"),
    ],
)
def test_a_failure_leaves_the_specifiers_and_says_so(
    monkeypatch: pytest.MonkeyPatch, wanted: list[str], seconds: float, said: str
) -> None:
    made = resolve(monkeypatch, *wanted, seconds=seconds)
    assert (made.pinned, lines(made)) == (False, wanted)
    assert made.text.startswith(said)


def test_the_repositorys_settings_for_uv_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_NO_CONFIG")
    (tmp_path / "uv.toml").write_text("no-index = true\n")
    monkeypatch.chdir(tmp_path)
    assert lines(resolve(monkeypatch, "loss")) == ["loss==1.0", "maths==1.5"]


def test_sources_without_a_wheel_in_a_freeze_are_not_built_here(monkeypatch: pytest.MonkeyPatch) -> None:
    made = resolve(monkeypatch, *PINS, "old==1.0", "flash-attn==1.0")
    assert made.pinned and lines(made) == sorted([*PINS, "old==1.0"])
    assert made.compiled == ("old",)
    head = [line for line in made.text.splitlines() if line.startswith("# ")]
    assert head[0] == "# pinned"
    assert len([line for line in head if "flash-attn==1.0 (r.txt:1) is left out" in line]) == 1


# Builds of foreign packages: in the sandbox, where they see nothing of this machine, and nowhere else

BACKEND = """
import os
def prepare_metadata_for_build_wheel(folder, settings=None):
    seen = any(os.path.exists(path) for path in ({secret!r}, os.path.expanduser("~root/.ssh")))
    try:
        open({mark!r}, "w").close()
    except OSError:
        pass
    os.mkdir(folder + "/odd-1.0.dist-info")
    with open(folder + "/odd-1.0.dist-info/METADATA", "w") as file:
        needs = "leaked" if seen else "tiny-lmr"
        file.write(f"Metadata-Version: 2.1\\nName: odd\\nVersion: 1.0\\nRequires-Dist: {{needs}}\\n")
    return "odd-1.0.dist-info"
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.mark.parametrize("sandboxed", [pytest.param(True, marks=pytest.mark.bwrap), False])
def test_a_foreign_build_runs_in_the_sandbox_and_sees_nothing_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandboxed: bool
) -> None:
    folder = tmp_path / "packages"
    wheel(folder)
    (tmp_path / "secret").write_text("token")
    code = BACKEND.format(secret=str(tmp_path / "secret"), mark=str(tmp_path / "mark"))
    with tarfile.open(folder / "odd-1.0.tar.gz", "w:gz") as archive:
        for name, text in (("pyproject.toml", PROJECT), ("backend.py", code)):
            member = tarfile.TarInfo(f"odd-1.0/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    if not sandboxed:
        monkeypatch.setattr(uv_command, "why_only_wheels", lambda _: "for a test")
    made = pin(
        Needs((DeclaredNeed("odd", "odd==1.0", "r.txt:1"),)), choose_base(Needs(), "me/base:1", "3.11")
    )
    assert lines(made) == (["odd==1.0", "tiny-lmr==1.0"] if sandboxed else ["odd==1.0"])
    assert made.compiled == ("odd",)
    assert ("cannot be built here to learn what it needs" in made.note) == (not sandboxed)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("UV_DEFAULT_INDEX", "https://me:word@index.example/simple"), ("UV_INDEX_WORK_PASSWORD", "word")],
)
def test_a_build_never_gets_a_password(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert uv_command.why_only_wheels(uv_command.settings())


@pytest.mark.parametrize(("python", "full"), [("3.7", "3.7.17"), ("3.8", "3.8.20"), ("3.99", "3.99")])
def test_uv_gets_the_newest_patch_release(python: str, full: str) -> None:
    arguments = resolver._arguments(resolver.Question([], choose_base(Needs(), "me/base:1", python)))
    assert arguments[arguments.index("--python-version") + 1] == full

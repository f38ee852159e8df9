"""`new-task`: the whole folder, or none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from lmr_author import resources
from lmr_author.errors import LmrError, UsageError
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import env
from lmr_author.workflow.new_task import NewTaskOptions, NewTaskResult, default_name, new_task
from tests.gitrepos import add_link, commit, git, make_repository, tree
from tests.papers import make_paper
from tests.servers import Release, package_index

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test here needs a package index; the lock says that it is not pinned."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(
        tmp_path / "pair-wins.git",
        {
            "train.py": "import numpy\n",
            "requirements.txt": "torch==2.0.1\nnumpy>=1.20\n",
            "README.md": "# Pairs\n",
        },
    )


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return make_paper(
        tmp_path / "in.pdf", "Pairwise Wins in Text: Learning\nfrom Pairs", stamp="arXiv:2305.18290v2 [cs.LG]"
    )


def make(tmp_path: Path, pdf: Path, source: Path | str, **options: object) -> NewTaskResult:
    given = {"tasks_dir": tmp_path / "tasks", **options}
    return new_task(NewTaskOptions(paper=str(pdf), repo=str(source), **given))  # type: ignore[arg-type]


def refused(tmp_path: Path, pdf: Path, source: Path | str, **options: object) -> LmrError:
    """The error of a call that must fail, after checking that it left nothing."""
    before = sorted((tmp_path / "tasks").iterdir()) if (tmp_path / "tasks").exists() else []
    with pytest.raises(LmrError) as caught:
        make(tmp_path, pdf, source, **options)
    after = sorted((tmp_path / "tasks").iterdir()) if (tmp_path / "tasks").exists() else []
    assert before == after
    assert caught.value.hint
    return caught.value


def test_a_task_is_complete_and_valid(tmp_path: Path, pdf: Path, source: Path) -> None:
    made = make(tmp_path, pdf, source)
    assert made.task.root == tmp_path / "tasks" / "1-PWT"
    assert tree(made.task.root) == [
        ".dockerignore",
        "Dockerfile",
        "authoring/provenance.json",
        "authoring/vetting.json",
        "info.json",
        "pair-wins/README.md",
        "pair-wins/paper.json",
        "pair-wins/paper.pdf",
        "pair-wins/requirements.txt",
        "pair-wins/train.py",
        "requirements.lock",
    ]
    assert (made.task.root / "golden_files").is_dir()
    assert (made.task.root / "pair-wins" / "unit_test").is_dir()
    info = TaskDir(made.task.root).load()
    assert info == made.info
    assert (info.instance_id, info.year, info.folder_name) == (1, 2023, "1-PWT")
    assert info.paper_name == "Pairwise Wins in Text: Learning from Pairs"
    assert info.paper_url == "https://arxiv.org/abs/2305.18290v2"
    assert info.repo_commit == git(source, "rev-parse", "HEAD")
    assert json.loads(made.task.paper_json(info).read_text())["2"].startswith("Page 2")
    assert made.task.paper_pdf(info).read_bytes() == pdf.read_bytes()
    assert "ARG BASE_IMAGE=pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime" in made.task.dockerfile.read_text()
    assert made.task.lock.read_text().endswith("numpy>=1.20\n")


def test_the_records_are_valid(tmp_path: Path, pdf: Path, source: Path) -> None:
    commit(source, {"LICENSE": "Mozilla Public License Version 2.0", "x.pyc": b"x"})
    made = make(tmp_path, pdf, source)
    provenance = json.loads(made.task.provenance_path.read_text())
    vetting = json.loads(made.task.vetting_path.read_text())
    jsonschema.validate(provenance, resources.schema("provenance"))
    jsonschema.validate(vetting, resources.schema("vetting"))
    assert provenance["repository"]["commit"] == made.info.repo_commit
    assert provenance["repository"]["removed"] == [{"path": "x.pyc", "reason": "cache"}]
    assert (
        provenance["environment"]["base_image"]["reason"]
        == "the repository asks for torch==2.0.1 (requirements.txt:1)"
    )
    assert provenance["environment"]["lock"]["pinned"] is False
    assert vetting["status"] == "open"
    assert {item["answer"] for item in vetting["questions"].values()} == {None}
    assert vetting["questions"]["license"]["evidence"] == ["MPL-2.0, recognised in LICENSE"]
    assert made.info.license == "MPL-2.0"


def test_what_is_compiled_gets_its_compiler(
    tmp_path: Path, pdf: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ["certifi", "idna", "six", *(f"part{number}" for number in range(15))]  # as `pip freeze` has it
    index = {name: [Release("1.0", "2020-01-01")] for name in whole}
    index["fast"] = [Release("1.0", "2020-01-01", wheel=False)]
    commit(source, {"requirements.txt": "".join(f"{name}==1.0\n" for name in [*whole, "fast"])})
    monkeypatch.delenv("UV_OFFLINE")
    with package_index(index) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", address)
        made = make(tmp_path, pdf, source, base_image="me/base:1")
    assert "there is no wheel: fast" in made.task.lock.read_text()
    written = made.task.dockerfile.read_text()
    assert written == env.dockerfile(env.place_of(made.task), dry_run=True).text
    assert "        build-essential \\\n" in written and "        python3-dev \\\n" in written


def test_the_schemas_of_the_records_are_schemas() -> None:
    for name in ("provenance", "vetting", "base-images"):
        schema = resources.schema(name)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$id"].endswith(f"{name}.schema.json")


def test_what_was_decided_for_the_annotator_is_said(tmp_path: Path, pdf: Path, source: Path) -> None:
    commit(source, {"unit_test/old.py": "", "a.TXT": "", "A.txt": "", "c.pyc": b""})
    add_link(source, "lib", "1" * 40)
    notes = "\n".join(make(tmp_path, pdf, source, skip_submodules=True).notes)
    for part in (
        "no licence file",
        "submodule lib left out",
        "removed c.pyc: cache",
        "unit_test of its own",
        "NOT pinned",
        "3.10",
    ):
        assert part in notes


def test_a_lock_that_nothing_fits_names_what_would_help(
    tmp_path: Path, pdf: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(source, {"requirements.txt": "loss==2.0\nmaths==1.0\n"})
    releases = {
        "loss": [Release("2.0", "2020-01-01", ("maths>=2",))],
        "maths": [Release("1.0", "2020-01-01"), Release("2.0", "2020-01-01")],
    }
    monkeypatch.delenv("UV_OFFLINE")
    with package_index(releases) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", address)
        made = make(tmp_path, pdf, source, base_image="me/base:1")
    (note,) = [note for note in made.notes if note.startswith("requirements.lock is")]
    assert "no versions fit together" in note
    assert note.endswith("(`lmr-author env lock --relax` makes the smallest changes that help)")


def test_given_values_win(tmp_path: Path, pdf: Path, source: Path) -> None:
    first = git(source, "rev-parse", "HEAD")
    commit(source, {"late.py": ""})
    made = make(
        tmp_path, pdf, source, commit=first, id=7, name="Mine", title="T", year=2020, paper_url="https://x.example/p",
        base_image="me/base:1", python_version="3.12", repo_folder="code",
    )  # fmt: skip
    info = made.info
    assert (info.folder_name, info.paper_name, info.year, info.repo_folder_name) == (
        "7-Mine",
        "T",
        2020,
        "code",
    )
    assert (info.paper_url, info.repo_commit) == ("https://x.example/p", first)
    assert not (made.task.root / "code" / "late.py").exists()
    assert "ARG BASE_IMAGE=me/base:1\n" in made.task.dockerfile.read_text()
    assert "Python 3.12" in made.task.lock.read_text()


def test_numbers_go_on_and_are_not_given_twice(tmp_path: Path, pdf: Path, source: Path) -> None:
    assert make(tmp_path, pdf, source, name="a").task.name == "1-a"
    (tmp_path / "tasks" / "12-foreign").mkdir()
    odd = tmp_path / "tasks" / "odd"
    odd.mkdir()
    (odd / "info.json").write_text('{"instance_id": "14"}')
    assert make(tmp_path, pdf, source, name="a").task.name == "15-a"
    assert "taken by 12-foreign/" in refused(tmp_path, pdf, source, id=12).message
    assert "taken by odd/" in refused(tmp_path, pdf, source, id=14).message


def test_an_existing_folder_is_not_touched(tmp_path: Path, pdf: Path, source: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "1-a").write_text("mine")
    refused(tmp_path, pdf, source, id=1, name="a")
    assert (tmp_path / "tasks" / "1-a").read_text() == "mine"


@pytest.mark.parametrize(
    "options",
    [
        {"name": "../x"}, {"name": "a/b"}, {"name": ""}, {"name": "-a"}, {"id": 0}, {"id": -1}, {"year": 23},
        {"repo_folder": "golden_files"}, {"repo_folder": ".."}, {"repo_folder": "Authoring"},
        {"base_image": "a b"},
        {"python_version": "3"}, {"commit": "-x"}, {"commit": "nowhere"},
    ],
)  # fmt: skip
def test_wrong_options_are_refused(
    tmp_path: Path, pdf: Path, source: Path, options: dict[str, object]
) -> None:
    refused(tmp_path, pdf, source, **options)


@pytest.mark.parametrize(
    "repo", ["ext::sh -c touch% /tmp/x", "-x", "https://127.0.0.1:9/a/b", "no-such-folder", ""]
)
def test_wrong_repositories_are_refused(tmp_path: Path, pdf: Path, repo: str) -> None:
    refused(tmp_path, pdf, repo)


def test_a_paper_that_is_none_is_refused(tmp_path: Path, source: Path) -> None:
    (tmp_path / "in.pdf").write_bytes(b"%PDF-1.7 no")
    refused(tmp_path, tmp_path / "in.pdf", source)
    refused(tmp_path, tmp_path / "missing.pdf", source)


@pytest.mark.parametrize("name", ["paper.pdf", "paper.json", "unit_test"])
def test_files_that_stand_in_the_way_are_refused(tmp_path: Path, pdf: Path, source: Path, name: str) -> None:
    commit(source, {name: "theirs"})
    assert name in refused(tmp_path, pdf, source).message
    (source / name).unlink()
    for target in ("train.py", "not-there"):
        (source / name).symlink_to(target)
        commit(source, {})
        assert name in refused(tmp_path, pdf, source).message
        (source / name).unlink()


def test_the_same_paper_in_the_repository_is_fine(tmp_path: Path, pdf: Path, source: Path) -> None:
    commit(source, {"paper.pdf": pdf.read_bytes()})
    made = make(tmp_path, pdf, source)
    assert made.task.paper_pdf(made.info).read_bytes() == pdf.read_bytes()


def test_what_cannot_be_derived_has_to_be_given(tmp_path: Path, source: Path) -> None:
    pdf = make_paper(tmp_path / "in.pdf", title="", body="words " * 300, metadata={"creationDate": ""})
    with pytest.raises(UsageError, match="title of the paper") as caught:
        make(tmp_path, pdf, source)
    assert "--title" in caught.value.hint


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("SimPO: Simple Preference Optimization", "SimPO"),
        ("Direct Preference Optimization: Your Language Model is …", "DPO"),
        ("Chain-of-Thought Prompting for All: A Study", "CTPA"),
        ("Learning Transferable Models (CLIP) from Text", "CLIP"),
        ("Nano GPT: Small", "Nano-GPT"),
        ("Attention is all you need", ""),
        ("a long lower case title before it: the colon", ""),
        ("../../etc: x", "etc"),
        ("", ""),
    ],
)
def test_default_names(title: str, name: str) -> None:
    assert default_name(title) == name


def start(
    tmp_path: Path, pdf: Path, source: Path, tasks: Path, wrap: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    code = (
        "import sys; from pathlib import Path; from lmr_author.cli.boundary import guarded;"
        "from lmr_author.workflow.new_task import *;"
        "say = lambda message: print(message, file=sys.stderr, flush=True);"
        "options = NewTaskOptions(sys.argv[1], sys.argv[2], tasks_dir=Path(sys.argv[3]));"
        "run = lambda: bool(new_task(options, say)) * 0;"
        "sys.exit(guarded(run))"
    )
    return subprocess.Popen(
        [*wrap, sys.executable, "-c", code, str(pdf), str(source), str(tasks)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize(
    "moment", ["reading the paper", "cloning", "looking for", "pinning", "writing the task"]
)
def test_stopped_at_any_moment_there_is_no_task(
    tmp_path: Path, pdf: Path, source: Path, moment: str, number: signal.Signals
) -> None:
    commit(source, {f"data/{name}.txt": "x" * 1000 for name in range(300)})
    with start(tmp_path, pdf, source, tmp_path / "tasks") as process:
        assert process.stderr is not None
        assert any(line.startswith(moment) for line in process.stderr)
        process.send_signal(number)
        process.stderr.read()
        code = process.wait(30)
    left = (
        sorted(path.name for path in (tmp_path / "tasks").glob("*")) if (tmp_path / "tasks").exists() else []
    )
    if code == 0:  # it was done before the signal arrived
        assert left == ["1-PWT"]
        return
    assert code == (130 if number is signal.SIGINT else -9)
    # What a kill leaves is hidden and no task; an interruption leaves nothing at all.
    assert [name for name in left if not name.startswith(".")] == []
    if number is signal.SIGINT:
        assert left == []
    assert not any((tmp_path / "tasks").glob("*/info.json"))


@pytest.mark.bwrap
@pytest.mark.parametrize("size", [4_000, 60_000, 250_000])
def test_a_full_disk_leaves_nothing(tmp_path: Path, pdf: Path, source: Path, size: int) -> None:
    commit(source, {f"data/{name}.bin": os.urandom(20_000) for name in range(10)})
    disk = tmp_path / "disk"
    disk.mkdir()
    tasks = disk / "tasks"
    after = tmp_path / "after.txt"
    after.touch()
    bind = ("bwrap", "--bind", "/", "/", "--dev", "/dev", "--size", str(size), "--tmpfs", str(disk))
    listed = ("sh", "-c", f'"$@"; code=$?; ls -A {tasks} > {after} 2>&1; exit $code', "sh")
    with start(tmp_path, pdf, source, tasks, (*bind, *listed)) as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == 3, said
    assert "No space left" in said
    assert "hint: free" in said
    assert after.read_text().strip() == "" or "No such file" in after.read_text()


def test_the_command_line(tmp_path: Path, pdf: Path, source: Path) -> None:
    import typer
    from typer.testing import CliRunner

    from lmr_author.cli.new_task import new_task as verb

    app = typer.Typer()
    app.command()(verb)
    tasks = str(tmp_path / "tasks")
    done = CliRunner().invoke(
        app, [str(pdf), "--repo", str(source), "--tasks-dir", tasks, "--no-input", "--id", "3"]
    )
    assert (done.exit_code, done.stdout) == (0, ""), done.exception
    assert "made" in done.stderr and "3-PWT" in done.stderr
    missing = CliRunner().invoke(app, ["--repo", str(source), "--no-input"])
    assert isinstance(missing.exception, UsageError)

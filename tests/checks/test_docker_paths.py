"""Where COPY puts files: the same as a build does, where it can be told at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import dockerfile, example_task
from lmr_author.checks.docker_paths import in_image
from lmr_author.checks.view import TaskView

FILES = ("repo/requirements.txt", "repo/sub/extra.txt", "repo/code.py", "lock.txt")

CASES = [
    ("COPY lock.txt .", "lock.txt", True),
    ("COPY lock.txt ./", "./lock.txt", True),
    ("COPY lock.txt /tmp/wanted.txt", "/tmp/wanted.txt", True),
    ("COPY lock.txt /tmp/", "/tmp/lock.txt", True),
    ("COPY lock.txt repo/code.py /tmp/", "/tmp/lock.txt", True),
    ("COPY repo /work", "/work/requirements.txt", True),
    ("COPY repo/ /work/", "/work/sub/extra.txt", True),
    ("COPY repo /work", "/work/repo/requirements.txt", False),
    ("COPY repo /work", "/work/extra.txt", False),
    ("COPY repo ./repo", "repo/requirements.txt", True),
    ("COPY repo ./repo", "requirements.txt", None),
    ("WORKDIR /work\nCOPY repo .", "requirements.txt", True),
    ("WORKDIR /work\nCOPY repo .", "/work/sub/extra.txt", True),
    ("WORKDIR /work\nCOPY repo .", "repo/requirements.txt", False),
    ("COPY repo /work\nWORKDIR /work\nWORKDIR sub", "extra.txt", True),
    ("COPY repo /work\nWORKDIR /work\nWORKDIR sub", "requirements.txt", False),
    ("COPY . /all", "/all/repo/requirements.txt", True),
    ("COPY . /all", "/all/requirements.txt", False),
    ("COPY --chown=1:1 repo /work", "/work/requirements.txt", True),
    ('COPY ["repo", "/work"]', "/work/requirements.txt", True),
    ("ARG TO=/work\nCOPY repo $TO", "/work/requirements.txt", True),
    ("COPY repo /work\nCOPY lock.txt /work/extra.txt", "/work/extra.txt", True),
    ("COPY lock.txt /tmp", "/tmp/lock.txt", None),
    ("COPY $UNKNOWN /work", "/work/requirements.txt", None),
    ("COPY repo/*.txt /work/", "/work/requirements.txt", None),
    ("ADD sources.tar.gz /work", "/work/requirements.txt", None),
    ("RUN git clone x /work", "/work/requirements.txt", None),
]


@pytest.fixture
def task(tmp_path: Path) -> TaskView:
    task = example_task.write(tmp_path)
    for name in FILES:
        (task.root / name).parent.mkdir(parents=True, exist_ok=True)
        (task.root / name).write_text("numpy==1.26.4\n")
    return TaskView(task)


@pytest.mark.parametrize(("lines", "path", "expected"), CASES)
def test_where_a_file_is(task: TaskView, lines: str, path: str, *, expected: bool | None) -> None:
    parsed = dockerfile.parse(f"FROM base\n{lines}\nRUN pip install -r {path}\nCOPY repo /late\n")

    assert in_image(task, parsed, parsed.named("RUN")[-1], path) is expected


def test_what_is_copied_later_is_not_there_yet(task: TaskView) -> None:
    parsed = dockerfile.parse(
        "FROM base\nCOPY lock.txt /work/\nRUN pip install -r /work/a.txt\nCOPY repo /work\n"
    )

    assert in_image(task, parsed, parsed.named("RUN")[-1], "/work/requirements.txt") is None


def test_a_changed_folder_is_not_followed(task: TaskView) -> None:
    parsed = dockerfile.parse("FROM base\nCOPY repo /work\nRUN cd /work && pip install -r requirements.txt\n")

    assert in_image(task, parsed, parsed.named("RUN")[-1], "requirements.txt") is None


def test_what_is_kept_out_of_the_context_is_not_there(task: TaskView) -> None:
    task.task.dockerignore.write_text("repo/requirements.txt\n")
    parsed = dockerfile.parse("FROM base\nCOPY repo /work\nRUN pip install -r /work/requirements.txt\n")

    assert in_image(task, parsed, parsed.named("RUN")[-1], "/work/requirements.txt") is False

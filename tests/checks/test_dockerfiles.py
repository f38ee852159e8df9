"""Dockerfiles as people write them, and exactly what has to be found in each."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.proof.checks import dockerfile
from lmr_author.proof.validation.run import validate
from tests import example

BASE = "FROM pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime\n"
USER = "RUN useradd -m user\nUSER user\n"
PINNED = "RUN pip install numpy==1.24.3\n"
COPY = "COPY ./margin-ranking /workspace/margin-ranking\n"

CASES = {
    "as published": (
        BASE
        + "ARG UID\nARG GID\nARG DIR=margin-ranking\n"
        + "RUN groupadd -g $GID -o user && useradd -m -u $UID -g $GID -o -s /bin/bash user\n"
        + "WORKDIR /workspace\nCOPY ./${DIR} /workspace/${DIR}\n"
        + PINNED
        + 'USER user\nCMD ["/bin/bash"]\n',
        [],
    ),
    "redirection with blanks": (
        BASE + COPY + "RUN pip install numpy==1.2 && pip install torch >=2.5\n" + USER,
        ["LMR203", "LMR207"],
    ),
    "exec form with a range": (BASE + COPY + 'RUN ["pip", "install", "numpy>=1.24"]\n' + USER, ["LMR207"]),
    "copy with a star": (BASE + "COPY * /workspace/\n" + PINNED + USER, ["LMR202"]),
    "heredoc": (
        BASE + COPY + "RUN <<EOF\npip install numpy==1.24\npip install scipy==1.11\nEOF\n" + USER,
        [],
    ),
    "requirements that are not there": (
        BASE + "ARG DIR=margin-ranking\nCOPY ${DIR}/requirements-dev.txt .\nRUN pip install -r"
        " requirements-dev.txt\n" + COPY + USER,
        ["LMR205"],
    ),
    "user in a variable": (
        BASE + "ARG USERNAME=agent\n" + COPY + PINNED + "RUN useradd $USERNAME\nUSER $USERNAME\n",
        [],
    ),
    "two stages": (
        "FROM pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime AS base\nFROM base\n" + COPY + PINNED + USER,
        [],
    ),
    "a pinned file that COPY renames": (
        BASE + COPY + "COPY margin-ranking/unit_test/pinned.txt /opt/requirements.txt\n"
        "RUN pip install -r /opt/requirements.txt\n" + USER,
        [],
    ),
    "lower case": (
        BASE.lower() + COPY.replace("COPY", "copy") + PINNED.replace("RUN", "run") + USER.lower(),
        [],
    ),
    "windows line ends": ((BASE + COPY + PINNED + USER).replace("\n", "\r\n"), []),
}


@pytest.mark.parametrize("name", CASES)
def test_exactly_what_is_expected_is_found(name: str, tmp_path: Path) -> None:
    text, expected = CASES[name]
    task = example.write(tmp_path)
    (task.root / ".dockerignore").unlink()
    task.dockerfile.write_bytes(text.encode())
    (task.root / "margin-ranking" / "unit_test" / "pinned.txt").write_text("numpy==1.26.4\n", "utf-8")

    findings = validate([task]).findings

    assert [one.code for one in findings] == expected, [
        f"{one.code} {one.pointer} {one.message}" for one in findings
    ]


@pytest.mark.parametrize(
    ("ignored", "expected"),
    [
        ("# copied\n*\n!requirements.lock\n!margin-ranking\ngolden_files\nauthoring\n**/.git\n", []),
        ("*\n!margin-ranking\n!golden_files\n", ["LMR202"]),
    ],
)
def test_dockerignore_keeps_goldens_out(ignored: str, expected: list[str], tmp_path: Path) -> None:
    task = example.write(tmp_path)
    task.dockerfile.write_text(BASE + "COPY . /workspace\n" + PINNED + USER)
    task.dockerignore.write_text(ignored)

    assert [one.code for one in validate([task]).findings] == expected


MALFORMED = [
    "",
    "\\\n\\\n",
    "RUN",
    "FROM",
    "COPY",
    "COPY [",
    "RUN <<EOF\nx",
    "ENV\nENV A",
    "\0\1",
    "FROM a\nRUN 'x",
]


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_dockerfiles_are_read(text: str) -> None:
    parsed = dockerfile.parse(text)

    assert parsed.commands is not None
    assert parsed.copies == []


def test_lines_and_variables() -> None:
    parsed = dockerfile.parse(
        "# a\nARG A=x\nENV B=${A}y C=z\nRUN one \\\n  # inside\n  two\nCOPY ${B} ${D:-here} /t\n"
    )

    assert [(item.name, item.line) for item in parsed.instructions] == [
        ("ARG", 2),
        ("ENV", 3),
        ("RUN", 4),
        ("COPY", 7),
    ]
    assert parsed.instructions[2].text == "one two"
    assert parsed.copies[0][1] == ["xy", "here"]
    assert parsed.comments == ((1, "# a"), (5, "# inside"))


REQUIREMENTS = {
    "another file named": ({"more.txt": "scipy\n", "all.txt": "-r more.txt\n"}, "-r /w/all.txt", ["LMR207"]),
    "pinned by constraints": (
        {"all.txt": "scipy\n", "pins.txt": "scipy==1.11.4\n"},
        "-c /w/pins.txt -r /w/all.txt",
        [],
    ),
    "a file that names itself": ({"all.txt": "-r all.txt\nscipy==1.11.4\n"}, "-r /w/all.txt", []),
}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_files_are_read_through_each_other(name: str, tmp_path: Path) -> None:
    texts, arguments, expected = REQUIREMENTS[name]
    task = example.write(tmp_path)
    for file, text in texts.items():
        (task.root / example.REPOSITORY / file).write_text(text)
    task.dockerfile.write_text(f"{BASE}COPY margin-ranking /w\nRUN pip install {arguments}\nUSER 1000\n")

    assert [one.code for one in validate([task]).findings] == expected

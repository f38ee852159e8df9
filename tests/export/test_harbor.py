"""Harbor's grader: reward 1.0 for the golden, 0.0 for wrong answers and cheats, none in a broken environment.

The real client is tried by ``scripts/try-harbor``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.program import succeed
from tests.evaluation.foreign import STYLES, foreign_task
from tests.export.conftest import PLAIN
from tests.export.harbor import CHEATS, agent, answers, artifact, cheating, container, docker, image, verify
from tests.export.vectors import vectors_task
from tests.support import base_image

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


@dataclass(frozen=True)
class Built:
    """An exported Harbor task with its image, and the goal file as two agents leave it."""

    task: Path
    tag: str
    solved: Path
    untouched: Path


def built(task: Path, folder: Path) -> Iterator[Built]:
    folder.mkdir()
    with image(task) as tag:
        yield Built(task, tag, *answers(task, tag, folder))


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """The example task."""
    folder = tmp_path_factory.mktemp("example")
    base = base_image("lmr-author/base:bookworm")
    succeed(
        "export", PLAIN, "--to", "harbor", "--out", "out", "--base-image", base, "--unreviewed", cwd=folder
    )
    yield from built(folder / "out" / f"{PLAIN.name}-1", folder / "answers")


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Built, Built]]:
    """Two implementations of one goal file: the first has a checker, the second a fixture and needs the first."""
    folder = tmp_path_factory.mktemp("vectors")
    task = vectors_task(folder / "tasks", base_image("lmr-author/base:bookworm"))
    succeed("export", task.root, "--to", "harbor", "--out", "out", "--force", cwd=folder)
    first = built(folder / "out" / "2-Vectors-1", folder / "first")
    second = built(folder / "out" / "2-Vectors-2", folder / "second")
    yield next(first), next(second)
    for one in (first, second):
        next(one, None)


def test_the_oracle_passes_and_the_masked_file_fails(example: Built) -> None:
    passed = verify(example.task, example.tag, example.solved)
    assert passed.reward == 1.0 and set(passed.cases.values()) == {"passed"}
    failed = verify(example.task, example.tag, example.untouched)
    assert failed.reward == 0.0 and "NotImplementedError" in failed.said
    assert set(failed.cases.values()) == {"failed"} and failed.cases.keys() == passed.cases.keys()


def test_the_agent_has_a_name_and_a_home(example: Built) -> None:
    """verifiers runs an agent only as a named user that can write its home."""
    with container(example.tag) as name:
        probe = "id -un && test -w ~ && id -u"
        assert docker("exec", "--user", agent(example.task), name, "sh", "-c", probe).split() == [
            "lmr",
            "1000",
        ]


@pytest.mark.parametrize("cheat", sorted(CHEATS.glob("*.py")), ids=lambda path: path.stem)
def test_a_reward_cannot_be_forged(example: Built, cheat: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.py"
    answer.write_text(cheating(example.untouched, cheat))
    verdict = verify(example.task, example.tag, answer)
    assert verdict.reward == 0.0 and "the golden passes" in verdict.said, verdict.said


def test_the_cheats_are_real(example: Built, tmp_path: Path) -> None:
    answer = tmp_path / "answer.py"
    answer.write_text(cheating(example.untouched, CHEATS / "find_golden.py"))
    open_door = "sed -i 's/os.chmod(TESTS, 0o700)/os.chmod(TESTS, 0o755)/' /tests/grade.py"
    assert verify(example.task, example.tag, answer, open_door).reward == 1.0


def test_a_goal_file_that_is_none(example: Built, tmp_path: Path) -> None:
    assert verify(example.task, example.tag, None).reward == 0.0
    (tmp_path / "folder").mkdir()
    assert verify(example.task, example.tag, tmp_path / "folder").reward == 0.0
    (tmp_path / "link.py").symlink_to("/tests/goldens/0")
    assert verify(example.task, example.tag, tmp_path / "link.py").reward == 0.0
    (tmp_path / "syntax.py").write_text("def (\n")
    assert verify(example.task, example.tag, tmp_path / "syntax.py").reward == 0.0


def test_a_broken_environment_gives_no_reward(example: Built) -> None:
    model = str(Path(artifact(example.task)).with_name("__init__.py"))
    verdict = verify(example.task, example.tag, example.solved, f"echo 'raise ImportError' > {model}")
    assert verdict.reward is None and "the environment is broken" in verdict.said
    assert not verdict.cases


def test_fixtures_and_a_function_that_needs_the_other_one(vectors: tuple[Built, Built]) -> None:
    for one in vectors:
        assert verify(one.task, one.tag, one.solved).reward == 1.0
        assert verify(one.task, one.tag, one.untouched).reward == 0.0


def test_one_function_is_solved_while_the_other_stays_masked(
    vectors: tuple[Built, Built], tmp_path: Path
) -> None:
    second = vectors[1]
    golden, masked = second.solved.read_text(), second.untouched.read_text()
    assert masked.count("raise NotImplementedError") == 2
    leading = re.search(r"^def leading.*", golden, re.DOTALL | re.MULTILINE)
    assert leading
    answer = tmp_path / "answer.py"
    # As an agent writes it: a helper and an import in front, so that every line moves.
    answer.write_text("import math\n\n\n" + masked[: masked.index("def leading")] + leading[0])
    assert verify(second.task, second.tag, answer).reward == 1.0


@pytest.mark.parametrize("style", ["unittest", "log only"])
def test_a_test_written_by_hand_grades_apart_from_the_agent(style: str, tmp_path: Path) -> None:
    task = foreign_task(tmp_path / "tasks", STYLES[style])
    base = base_image("lmr-author/base:bookworm")
    succeed(
        "export", task.root, "--to", "harbor", "--out", "out", "--base-image", base, "--force", cwd=tmp_path
    )
    folder = tmp_path / "out" / "7-Softplus-1"
    assert not list((folder / "environment").rglob("unit_test*"))
    assert tomllib.loads((folder / "task.toml").read_text())["metadata"]["judged_by"] == "hand-written test"
    with image(folder) as tag:
        solved, untouched = answers(folder, tag, tmp_path)
        assert verify(folder, tag, solved).reward == 1.0
        assert verify(folder, tag, untouched).reward == 0.0
        quits = tmp_path / "quits.py"
        quits.write_text(
            untouched.read_text().replace("raise NotImplementedError", "__import__('os')._exit(0)")
        )
        assert verify(folder, tag, quits).reward == 0.0, (
            "exits with 0, and says nothing of what the golden says"
        )
        assert verify(folder, tag, solved, "rm /tests/unit_test/cases.json").reward is None

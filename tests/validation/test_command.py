"""`lmr-author validate` and `explain` as they are typed, and what they print."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from lmr_author.cli.app import main
from lmr_author.cli.validate import findings_text
from lmr_author.core import resources
from lmr_author.proof.checks.registry import ALL_CHECKS, by_code
from lmr_author.proof.validation.run import select_checks, validate
from tests import example as example_task
from tests.checks import cases

ROOT = Path(resources.__file__).resolve().parents[2]


def test_a_clean_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = example_task.write(tmp_path)

    assert main(["validate", str(task.root)]) == 0
    assert "\nNo problems found in 1 task\nnext: " in capsys.readouterr().out


def test_findings_can_be_clicked_and_the_worst_come_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = example_task.write(tmp_path)
    example_task.write(tmp_path, 2)
    for name in (
        "LMR203/torch-2-5-unquoted",
        "LMR307/the-body-is-a-bare-return",
        "LMR704/a-name-with-a-line-break",
    ):
        cases.named(name).apply(task)
    monkeypatch.chdir(tmp_path)

    assert main(["validate", "."]) == 1
    lines = capsys.readouterr().out.splitlines()
    heads = [line.partition(": ") for line in lines if line.startswith(task.name)]
    assert heads[0][0] == f"{task.name}/Dockerfile:8"
    assert heads[0][2].startswith("error LMR203: torch>=2.5 is not quoted")
    assert [rest.split(" ")[0] for _, _, rest in heads] == ["error", "warning", "warning", "note"]
    assert f"{task.name}/margin-ranking/ranking/two\\nlines.txt" in [path for path, _, _ in heads]
    assert '      hint: quote it ("torch>=2.5")' in "\n".join(lines)
    assert f"   1 × LMR203 {by_code()['LMR203'].title}" in lines
    assert "2 tasks checked, 1 clean: 1 error, 2 warnings, 1 note" in lines
    assert "[implementation" not in "\n".join(lines)
    assert lines[-1].startswith("next: ") and "explain LMR203" in lines[-1]


def test_the_line_that_is_meant_is_shown(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    cases.named("LMR203/torch-2-5-unquoted").apply(task)
    cases.named("LMR003/the-legacy-spelling").apply(task)
    lines = list(findings_text(validate([task]), width=300))

    (at,) = [place for place, line in enumerate(lines) if ": error LMR203: " in line]
    shown, hint = lines[at + 1 : at + 3]
    assert shown.split(" | ")[0].strip() == "8" and "torch>=2.5" in shown
    assert hint.strip().startswith("hint: ")
    (at,) = [place for place, line in enumerate(lines) if ": warning LMR003: " in line]
    assert '"retrieval_content"' in lines[at + 1]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(
    "line",
    [
        "RUN pip install torch>=2.5 " + "x" * 300,
        "RUN true &&\tpip install torch>=2.5",
        "RUN echo 语言模型 && pip install torch>=2.5 " + "语言" * 100,
        "RUN echo \x1b[31m && pip install torch>=2.5",
    ],
)
def test_a_long_line_is_cut(line: str, width: int, tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    task.dockerfile.write_text(f"FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\n{line}\n")
    lines = list(findings_text(validate([task], select_checks(["LMR203"])), width=width))

    assert any("RUN" in text and "\x1b" not in text for text in lines)
    assert max(cell_len(text) for text in lines if not text.startswith("/")) <= width  # paths stay whole


def test_only_what_is_bad_enough_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = example_task.write(tmp_path)
    for code in ("LMR207", "LMR310"):
        cases.first(code).apply(task)

    codes = {}
    for level in ("note", "warning", "error"):
        code = main(["validate", str(task.root), "--severity", level, "--format", "json"])
        codes[level] = (code, list(json.loads(capsys.readouterr().out)["summary"]["by_code"]))
    assert codes == {"note": (1, ["LMR207", "LMR310"]), "warning": (1, ["LMR207"]), "error": (0, [])}


@pytest.mark.parametrize("output", ["json", "github", "text"])
def test_each_format_is_alone_on_stdout(
    output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = example_task.write(tmp_path)
    task.dockerfile.unlink()

    assert main(["validate", str(task.root), "--format", output]) == 1
    captured = capsys.readouterr()
    assert captured.err == "" and "LMR201" in captured.out
    if output == "json":
        assert json.loads(captured.out)


def test_select_ignore_and_what_is_no_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = example_task.write(tmp_path)
    (task.root / "Dockerfile").unlink()

    assert main(["validate", str(task.root), "--select", "LMR4"]) == 0
    assert main(["validate", str(task.root), "--select", "LMR2", "--ignore", "LMR202,LMR203"]) == 1
    assert main(["validate", str(task.root), "--select", "X1"]) == 2
    assert "error: no check has the code 'X1'" in capsys.readouterr().err
    assert main(["validate", str(tmp_path / "nothing")]) == 3
    assert "hint:" in capsys.readouterr().err


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.code)
def test_every_check_is_explained(check: object, capsys: pytest.CaptureFixture[str]) -> None:
    code = getattr(check, "code", "")
    assert main(["explain", code.lower()]) == 0
    text = capsys.readouterr().out

    assert text.startswith(f"{code}: ")
    assert main(["explain", code, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["code"] == code


def test_explain_lists_and_suggests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "all"]) == 0
    assert all(check.code in capsys.readouterr().out for check in ALL_CHECKS[:1])
    assert main(["explain", "LMR41"]) == 2
    assert "did you mean" in capsys.readouterr().err


def test_the_generated_page_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "generate-docs"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")

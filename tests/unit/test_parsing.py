"""JSON and YAML of others are data or one error, whatever is in them; no reader takes them for a bug of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.parsing import NotParsed, json_data, yaml_data
from lmr_author.core.task.evaluation import Evaluation
from lmr_author.proof.evaluation.candidates import predictions, results
from lmr_author.release.recipes import recipe

JSON = {
    "5,000 digits": b'{"a": ' + b"9" * 5000 + b"}",
    "no number": b'{"a": NaN}',
    "endless": b'{"a": -Infinity}',
    "too large": b'{"a": 1e999}',
    "deep": b'{"a": ' + b"[" * 100_000,
    "not UTF-8": b'{"a": "\xff"}',
    "cut off": b'{"a": ',
}
YAML = {
    "deep": "a: " + "[" * 2000,
    "5,000 digits": "a: " + "9" * 5000,
    "no number": "a: .nan",
    "no date": "a: 2024-99-99",
    "a tag without a value": "a: !!timestamp x",
    "a class of Python": "a: !!python/object/apply:os.system [id]",
    "a list in itself": "&a [*a]",
    "a billion of values": "\n".join(
        ["a0: &a0 [x]", *(f"a{n}: &a{n} [{f'*a{n - 1},' * 10}]" for n in range(1, 10))]
    ),
    "a NUL": "a: \0",
}


@pytest.mark.parametrize("name", JSON)
def test_json_is_data_or_one_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotParsed):
        json_data(JSON[name])
    path = tmp_path / "file.json"
    path.write_bytes(JSON[name])
    readers: tuple[Callable[[Path], object], ...] = (files.read_json, Evaluation.read)
    for read in readers:
        with pytest.raises(LmrError, match=r"file\.json.*invalid JSON"):
            read(path)
    assert Evaluation.read_if_valid(path) is None


@pytest.mark.parametrize("name", [name for name in JSON if name != "cut off"])
def test_lines_are_data_or_one_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(JSON[name] + b"\n")
    with pytest.raises(
        LmrError, match=r"lines\.jsonl:1: not JSON" if name != "not UTF-8" else r"lines\.jsonl:1"
    ):
        results.load(path)
    with pytest.raises(LmrError, match=r"lines\.jsonl:1: not JSON"):
        predictions.read(path, {})


def test_a_number_that_no_record_holds_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    text = '{"format":"lmr-candidate/1","task":"t","index":1,"model":"m","sample":1,"category":"c","outcome":"%s",'
    text += '"reason":"","seconds":%s}\n'
    path.write_text(text % ("passed", "1.5"))
    assert results.load(path)[0].seconds == 1.5
    for outcome, seconds in (("passed", "NaN"), ("passed", "1" + "0" * 400), ("\\ud800", "1")):
        path.write_text(text % (outcome, seconds))
        with pytest.raises(LmrError, match=r"results\.jsonl:1"):
            results.load(path)


@pytest.mark.parametrize("name", YAML)
def test_yaml_is_data_or_one_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotParsed):
        yaml_data(YAML[name])
    path = tmp_path / "answers.yaml"
    path.write_text(YAML[name])
    with pytest.raises(UsageError, match=r"answers\.yaml.*neither YAML nor JSON"):
        files.read_answers(path, "--answers")
    (tmp_path / recipe.RECIPE).write_text(YAML[name])
    with pytest.raises(LmrError, match=r"recipe\.yaml"):
        recipe.read(tmp_path)


def test_what_yaml_can_say_is_read() -> None:
    assert yaml_data("a: &x [1, 2.5]\nb: *x\n") == {"a": [1, 2.5], "b": [1, 2.5]}
    assert yaml_data("a: 007\nb: yes\n", as_text=True) == {"a": "007", "b": "yes"}
    assert json_data(b'\xef\xbb\xbf{"a": 1.5}') == {"a": 1.5}


def test_a_terminal_without_a_size_is_no_reason_to_print_nothing() -> None:
    argv = [sys.executable, "-m", "lmr_author", "explain", "LMR001"]
    wide, *others = (
        subprocess.run(argv, env={**os.environ, "COLUMNS": columns}, capture_output=True, check=True).stdout
        for columns in ("80", "0", "00", "")
    )
    assert len(wide) > 100
    assert others == [wide] * 3


def test_a_long_name_of_emoji_is_written_beside_its_place(tmp_path: Path) -> None:
    files.write_text(tmp_path / ("😀" * 60), "content")
    with files.staged_folder(tmp_path / ("😀" * 61)) as folder:
        (folder / "file").touch()
    assert {path.name for path in tmp_path.iterdir()} == {"😀" * 60, "😀" * 61}

"""Drafts of instructions: what they say, what they never say, and the section of the paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.authoring.masking import instruction as mask_instruction
from lmr_author.authoring.masking.body import MaskNotes
from lmr_author.authoring.masking.instruction import draft_instruction
from lmr_author.authoring.new_task.fields import set_fields
from lmr_author.cli import mask_dialogue
from lmr_author.cli.app import main
from lmr_author.core import code
from lmr_author.core.task import Target
from lmr_author.proof.checks.instruction import GAP
from lmr_author.proof.validation.run import select_checks, validate
from tests import example as example_task

MODULE = b'''
class Scorer:
    def score(self, pairs, scale, verbose=False):
        """Score pairs of answers.

        Args:
            pairs: answers, shape (batch, 2).
            scale: a factor.

        Returns:
            One number for each pair.
        """
        secret = scale * 17 + pairs.sum()
        return secret

def bare(a, *rest, key=None, **more):
    return a + key

def sees_all(a, b):
    return locals()
'''


def definition(name: str) -> code.Definition:
    """A function of the module above."""
    return code.find(code.Module.parse(MODULE, "m.py"), Target("m.py", name))


def test_a_draft_names_function_file_section_inputs_and_outputs() -> None:
    text = draft_instruction("m.py", definition("Scorer.score"), section="section 3 (Scoring)")
    assert text == (
        "Implement the method `score` of the class `Scorer` in `m.py` as section 3 (Scoring) of the paper describes"
        " it. Its purpose: Score pairs of answers. Inputs: `pairs`, `scale`, `verbose`. Return what its docstring and"
        " its callers expect. May be ignored: `verbose`. Keep its signature, and leave everything else as it is."
    )


def test_nothing_of_the_body_is_in_it() -> None:
    text = draft_instruction("m.py", definition("Scorer.score"))
    assert "secret" not in text and "17" not in text and "sum" not in text


def test_what_was_confirmed_in_the_comment_comes_before_the_docstring() -> None:
    notes = MaskNotes("Rate answers.\nOf two people.")
    text = draft_instruction("m.py", definition("Scorer.score"), notes)
    assert "Its purpose: Rate answers. Of two people. Inputs: `pairs`" in text


def test_without_a_docstring_the_signature_speaks() -> None:
    text = draft_instruction("m.py", definition("bare"))
    assert f"Its purpose: {GAP}. Inputs: `a`, `rest`, `key`, `more`." in text
    assert "Return what its callers expect." in text
    assert "May be ignored: `rest`, `more`." in text


def test_an_instruction_is_set_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = example_task.write(tmp_path)
    base = ["set", "--task", str(task.root)]
    text = tmp_path / "instruction.txt"
    text.write_text(
        "Implement `pairwise_loss` in `ranking/losses.py`,\nas section 3 of the paper describes it.\n"
    )
    assert main([*base, f"instruction=@{text}"]) == 0
    assert task.load().implementations[0].instruction == text.read_text().strip()
    before = task.info_path.read_bytes()
    for refused in ("instruction=", "instruction= ", "instruction=@missing.txt"):
        assert main([*base, refused]) == 2
    assert main([*base, "--implementation", "4", "instruction=Implement it."]) == 2
    assert task.info_path.read_bytes() == before
    assert main([*base, "instruction=Implement it: it returns sum(penalties) / len(penalties)."]) == 0
    capsys.readouterr()
    assert main(["validate", str(task.root), "--select", "LMR6"]) == 1
    assert "LMR607" in capsys.readouterr().out


def test_every_draft_keeps_the_rules(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    raw = {"implementations": example_task.second_implementation()}
    task.save(type(task.load()).from_json({**task.load_raw(), **raw}))
    info = task.load()
    for one in info.implementations:
        golden = code.Module.parse(task.golden(one).read_bytes(), one.golden_file)
        draft = mask_instruction.drafted(task, info, one.goal_file, code.find(golden, one.target), None)
        set_fields(task, {"instruction": draft}, one.index)
    assert validate([task], select_checks(select=["LMR6"])).findings == ()


@pytest.mark.parametrize(
    ("docstring", "purpose"),
    [
        ("Weigh the pairs. Proposed in the following paper:", "Weigh the pairs"),
        ("Proposed in the following paper:", GAP),
    ],
)
def test_a_sentence_that_announces_a_list_is_no_purpose(docstring: str, purpose: str) -> None:
    text = drafted(
        f'def weigh(pairs):\n    """{docstring}\n\n    https://example.org\n    """\n    return pairs\n'
    )
    assert f"Its purpose: {purpose}. Inputs" in text


def drafted(text: str) -> str:
    """The draft for the first function of a module."""
    module = code.Module.parse(text.encode(), "m.py")
    return draft_instruction("m.py", next(item for item in module.definitions if item.kind == "function"))


def test_a_docstring_that_quotes_the_body_does_not_give_it_away() -> None:
    quoting = "Average the gaps of pairs. It is sum(gaps) / len(gaps) + margin * 2."
    text = drafted(
        f'def f(gaps, margin):\n    """{quoting}\n\n    Args:\n        gaps: numbers.\n        margin: as in\n'
        "            sum(gaps) / len(gaps) + margin * 2.\n\n    Returns:\n        The average.\n"
        '    """\n    return sum(gaps) / len(gaps) + margin * 2\n'
    )
    assert "Its purpose: Average the gaps of pairs. Inputs: `gaps`, `margin`." in text
    assert "sum(" not in text
    elsewhere = drafted(f'def f(gaps, margin):\n    """{quoting}"""\n    return margin\n')
    assert "sum(gaps)" in elsewhere, "it is no quotation of this body"


def test_self_of_a_class_in_a_function_is_no_input() -> None:
    text = "def f():\n    class A:\n        def g(self, x):\n            return x\n    return A\n"
    module = code.Module.parse(text.encode(), "m.py")
    inner = next(item for item in module.definitions if item.name == "g")
    assert "Inputs: `x`." in draft_instruction("m.py", inner)
    loose = code.Module.parse(b"def init(cls, x):\n    return cls, x\n", "m.py").definitions[0]
    assert "Inputs: `cls`, `x`." in draft_instruction("m.py", loose)


def test_a_file_can_be_named_where_the_instruction_is_asked_for(
    keys: PipeInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "instr.txt").write_text("Implement it.\nAll of it.\n")
    another = "\x1b[B\x1b[B\r"
    keys.send_text(f"{another}@none.txt\r{another}@instr.txt\r")
    assert mask_dialogue._instruction("a.py::f", "Draft.") == "Implement it.\nAll of it."

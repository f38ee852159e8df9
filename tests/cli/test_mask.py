"""`lmr-author mask` as a person uses it: flags, a notes file, and questions at a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect

from lmr_author.authoring.masking.notes_file import read_notes_file
from lmr_author.core.task import Task
from tests.cli.conftest import HINGE
from tests.cli.program import ENVIRONMENT, PROGRAM, refuse, snapshot, succeed

USAGE, EXPECTED = 2, 3
ADD, INIT = "pkg/losses.py::Meter.add", "pkg/losses.py::Meter.__init__"
DOWN, CTRL_C = "\x1b[B", "\x03"
CATEGORY = ("--category", "Evaluation Metrics")
GIVEN = (*CATEGORY, "--instruction", "Make a meter.")
"""With these flags a terminal asks only for the body and the context."""


def goal(task: Task) -> str:
    return (task.root / "small-repo" / "pkg" / "losses.py").read_text()


# flags


PARTS = f"""\
targets:
- target: {INIT}
  objective: Keep it.
  inputs: ["size: how many"]
  outputs: [nothing]
  dependencies: {{inside: [Meter], outside: [math]}}
  steps: [store it]
"""


def test_every_part_has_a_field_or_a_flag(fresh: Task) -> None:
    (fresh.root / "doc.txt").write_text("Make a meter.\n\nOf a size.\n")
    (fresh.root / "notes.yaml").write_text(PARTS)
    flags = ("--notes", "notes.yaml", "--docstring", "@doc.txt", *CATEGORY, "--no-input")
    succeed("mask", INIT, *flags, cwd=fresh.root)
    assert '''
        """Make a meter.

        Of a size.
        """
        # TODO: implement __init__.
        # Objective: Keep it.
        # Inputs:
        #   - size: how many
        # Outputs:
        #   - nothing
        # Dependencies in this file: Meter
        # Dependencies outside this file: math
        # Steps:
        #   1. store it
        raise NotImplementedError
''' in goal(fresh)


def test_without_a_terminal_nothing_is_drafted_or_proposed_silently(fresh: Task) -> None:
    text = "from pkg.losses import hinge\ndef f(x):\n    return hinge(x)\n"
    (fresh.root / "small-repo" / "more.py").write_text(text)
    said = succeed("mask", "more.py::f", *CATEGORY, cwd=fresh.root).err
    assert "f has no docstring" in said and "--docstring" in said
    assert fresh.load().implementations[0].retrieval_context == ()
    succeed("unmask", "--all", cwd=fresh.root)
    context = ("--retrieval", "auto", "--retrieval", "run.py")
    said = succeed("mask", "more.py::f", *CATEGORY, *context, cwd=fresh.root).err
    assert fresh.load().implementations[0].retrieval_context == ("run.py", "pkg/losses.py")
    assert "context      run.py, pkg/losses.py" in said


# a notes file


def test_drafts_are_written_edited_and_used(fresh: Task) -> None:
    before = snapshot(fresh.root)
    drafted = succeed("mask", HINGE, INIT, "--draft-notes", "notes.yaml", "--no-input", cwd=fresh.root)
    assert "mask --notes notes.yaml" in drafted.err and drafted.out == ""
    path = fresh.root / "notes.yaml"
    text = path.read_text()
    assert succeed("mask", HINGE, INIT, "--draft-notes", "-", cwd=fresh.root).out == text
    assert {**before, "notes.yaml": ""} == {**snapshot(fresh.root), "notes.yaml": ""}
    assert [entry.target for entry in read_notes_file(text, "")] == [HINGE, INIT]
    path.write_text(text.replace("objective: Initialize a `Meter`", "objective: Begin"))
    succeed("mask", "--notes", "notes.yaml", *CATEGORY, "--no-input", cwd=fresh.root)
    assert "# Objective: Begin.\n" in goal(fresh) and "# Objective: Hinge loss of a margin." in goal(fresh)
    assert len(fresh.load().implementations) == 2


def test_a_notes_file_that_is_wrong(fresh: Task) -> None:
    path = fresh.root / "notes.yaml"
    path.write_text("targets:\n- target: pkg/losses.py::hing\n")
    command = ("mask", "--notes", "notes.yaml", "--no-input")
    assert "notes.yaml: no function 'hing'" in refuse(EXPECTED, *command, cwd=fresh.root)[0]
    path.write_bytes("targets:\n- target: Größe\n".encode("latin-1"))
    assert "UTF-8" in refuse(USAGE, *command, cwd=fresh.root)[0]
    error, hint = refuse(USAGE, "mask", "--notes", "none.yaml", "--no-input", cwd=fresh.root)
    assert "no such file" in error and "--draft-notes" in hint
    assert "exists" in refuse(USAGE, "mask", HINGE, "--draft-notes", "notes.yaml", cwd=fresh.root)[0]


# at a terminal


class Terminal:
    """`lmr-author mask` in a pseudo-terminal."""

    def __init__(self, task: Task, *arguments: str, editor: str = "", **more: str) -> None:
        environment = {
            **ENVIRONMENT,
            "TERM": "xterm",
            "EDITOR": editor,
            "VISUAL": "",
            "NO_COLOR": "1",
            **more,
        }
        self._process = pexpect.spawn(
            PROGRAM[0],
            [*PROGRAM[1:], "mask", *arguments],
            cwd=str(task.root),
            env=environment,
            dimensions=(50, 120),
            encoding="utf-8",
            timeout=60,
        )

    def sees(self, text: str) -> None:
        """Wait for a text."""
        self._process.expect_exact(text)

    def types(self, keys: str) -> None:
        """Press keys, once the question is ready for them."""
        self._process.send(keys)

    def ends(self) -> int:
        """Wait for the end; the exit code."""
        self._process.expect(pexpect.EOF)
        self._process.close()
        return int(self._process.exitstatus)


def editor(folder: Path, code: str) -> str:
    """A program that edits the file it is given."""
    path = folder / "editor.py"
    path.write_text(
        f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text()\n{code}\n"
    )
    return f"{sys.executable} {path}"


def test_a_draft_is_shown_and_taken(fresh: Task) -> None:
    terminal = Terminal(fresh, INIT)
    terminal.sees('"""Initialize a `Meter`.')
    terminal.sees("# TODO: implement __init__.")
    terminal.sees("What should replace the body?")
    terminal.types("\r")
    terminal.sees("Category of the masked function")
    terminal.types(DOWN + "\r")
    terminal.sees("Keep its signature")
    terminal.sees("Which instruction should the model get?")
    terminal.types(DOWN * 2 + "\r")
    terminal.types("Write a meter.\r")
    terminal.sees("masked pkg/losses.py::Meter.__init__ as implementation 1")
    assert terminal.ends() == 0
    assert '"""Initialize a `Meter`.' in goal(fresh) and "# Objective: Initialize a `Meter`" in goal(fresh)
    masked = fresh.load().implementations[0]
    assert (masked.category, masked.instruction) == ("Neural Network Architectures", "Write a meter.")


def test_a_draft_is_edited_until_it_can_be_read(fresh: Task, tmp_path: Path) -> None:
    code = (
        "good = text.replace('Initialize a `Meter`', 'Begin')\n"
        "path.write_text(good if 'WRONG' in text else text + '  WRONG: 1\\n')"
    )
    terminal = Terminal(fresh, INIT, *GIVEN, editor=editor(tmp_path, code + "\n"))
    terminal.sees("What should replace the body?")
    terminal.types(DOWN + "\r")
    terminal.sees("unknown field `WRONG`")
    terminal.sees("Edit again?")
    terminal.types("n")
    assert terminal.ends() == 0
    assert "size):\n        # TODO: implement __init__.\n        raise" in goal(fresh)


def test_without_an_editor_the_text_is_edited_right_there(fresh: Task) -> None:
    terminal = Terminal(fresh, INIT, *GIVEN, PATH="/nowhere")
    terminal.sees("What should replace the body?")
    terminal.types(DOWN + "\r")
    terminal.sees("retrieval_context")
    terminal.types("  instruction: typed here\x1b\r")
    assert terminal.ends() == 0
    assert "# Objective: Initialize a `Meter`" in goal(fresh)


def test_context_is_a_list_with_reasons(fresh: Task) -> None:
    text = "from pkg.losses import hinge\nimport run\ndef f(x):\n    '''F.'''\n    return hinge(run.meter)\n"
    (fresh.root / "small-repo" / "more.py").write_text(text)
    terminal = Terminal(fresh, "more.py::f", *GIVEN)
    terminal.sees("What should replace the body?")
    terminal.types("\r")
    terminal.sees("Retrieval context")
    terminal.sees("pkg/losses.py")
    terminal.sees("defines `hinge`, used at line 5")
    terminal.sees("run.py")
    terminal.types(DOWN + " \r")
    assert terminal.ends() == 0
    assert fresh.load().implementations[0].retrieval_context == ("pkg/losses.py",)


def test_several_functions_are_one_question(fresh: Task) -> None:
    terminal = Terminal(fresh, HINGE, INIT, *GIVEN)
    terminal.sees("What should replace the 2 bodies?")
    terminal.types("\r")
    assert terminal.ends() == 0
    assert goal(fresh).count("# TODO: implement") == 2 and '"""Initialize a `Meter`.' in goal(fresh)


def test_nothing_is_asked_that_was_said(fresh: Task) -> None:
    """By flags, and by an earlier mask of the same function."""
    (fresh.root / "notes.yaml").write_text(f"targets: [{{target: {INIT}, objective: Begin.}}]\n")
    for arguments in ((INIT, "--notes", "notes.yaml", "--retrieval", "run.py", *GIVEN), (INIT,)):
        terminal = Terminal(fresh, *arguments)
        terminal.sees("masked pkg/losses.py::Meter.__init__")
        assert terminal.ends() == 0
        assert "# Objective: Begin." in goal(fresh)
        assert fresh.load().implementations[0].category == "Evaluation Metrics"
        succeed("unmask", "--all", cwd=fresh.root)


def test_ctrl_c_changes_nothing(fresh: Task) -> None:
    before = snapshot(fresh.root)
    terminal = Terminal(fresh, INIT)
    terminal.sees("What should replace the body?")
    terminal.types(CTRL_C)
    assert terminal.ends() == 130
    assert snapshot(fresh.root) == before

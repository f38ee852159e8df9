"""`lmr-author mask` as a person uses it: flags, and questions at a terminal."""

from __future__ import annotations

import pexpect

from lmr_author.core.task import Task
from tests.cli.program import ENVIRONMENT, PROGRAM, succeed

USAGE, EXPECTED = 2, 3
ADD, INIT = "pkg/losses.py::Meter.add", "pkg/losses.py::Meter.__init__"
DOWN = "\x1b[B"
CATEGORY = ("--category", "Evaluation Metrics")
GIVEN = (*CATEGORY, "--instruction", "Make a meter.")
"""With these flags a terminal asks only for the context."""


def goal(task: Task) -> str:
    return (task.root / "small-repo" / "pkg" / "losses.py").read_text()


# flags


def test_docstring_and_comment_come_from_flags(fresh: Task) -> None:
    (fresh.root / "doc.txt").write_text("Make a meter.\n\nOf a size.\n")
    (fresh.root / "comment.txt").write_text("Keep it.\n\n- size: how many\n")
    flags = ("--comment", "@comment.txt", "--docstring", "@doc.txt", *CATEGORY, "--no-input")
    succeed("mask", INIT, *flags, cwd=fresh.root)
    assert '''
        """Make a meter.

        Of a size.
        """
        # TODO: implement __init__.
        # Keep it.
        #
        # - size: how many
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


def test_category_and_instruction_are_asked_for(fresh: Task) -> None:
    terminal = Terminal(fresh, INIT)
    terminal.sees("Category of the masked function")
    terminal.types(DOWN + "\r")
    terminal.sees("Keep its signature")
    terminal.sees("Which instruction should the model get?")
    terminal.types(DOWN + DOWN + "\r")  # a draft with a gap is to be edited, unless one says otherwise
    terminal.sees("masked pkg/losses.py::Meter.__init__ as implementation 1")
    assert terminal.ends() == 0
    masked = fresh.load().implementations[0]
    assert masked.category == "Neural Network Architectures"
    assert masked.instruction.startswith("Implement the method `__init__` of the class `Meter`")


def test_context_is_a_list_with_reasons(fresh: Task) -> None:
    text = "from pkg.losses import hinge\nimport run\ndef f(x):\n    '''F.'''\n    return hinge(run.meter)\n"
    (fresh.root / "small-repo" / "more.py").write_text(text)
    terminal = Terminal(fresh, "more.py::f", *GIVEN)
    terminal.sees("Retrieval context")
    terminal.sees("pkg/losses.py")
    terminal.sees("defines `hinge`, used at line 5")
    terminal.sees("run.py")
    terminal.types(DOWN + " \r")
    assert terminal.ends() == 0
    assert fresh.load().implementations[0].retrieval_context == ("pkg/losses.py",)


def test_nothing_is_asked_that_was_said(fresh: Task) -> None:
    """By flags, and by an earlier mask of the same function."""
    for arguments in ((INIT, "--comment", "Begin.", "--retrieval", "run.py", *GIVEN), (INIT,)):
        terminal = Terminal(fresh, *arguments)
        terminal.sees("masked pkg/losses.py::Meter.__init__")
        assert terminal.ends() == 0
        assert "# Begin." in goal(fresh)
        assert fresh.load().implementations[0].category == "Evaluation Metrics"
        succeed("unmask", "--all", cwd=fresh.root)

"""What a run of a test script said about itself, and whether that is a pass.

Hand-made tests say their verdict in many ways: an exit code, a line in a log, a line on the terminal,
unittest's and pytest's own summaries; many exit with 0 whatever they found. What the golden's run says is
taken as what a pass looks like: another version passes when it says all of that too, and nothing to the
contrary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PASSED = re.compile(r"\bpass(?:ed|es)?\b", re.IGNORECASE)
_FAILED = re.compile(r"(?<!\b0 )\bfail(?:ed|s|ure|ures)?\b", re.IGNORECASE)
_UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_OK = re.compile(r"^OK(?: \((?!skipped).*\))?$", re.MULTILINE)
_PYTEST = re.compile(r"\b(\d+) passed\b.* in [\d.]+s")
_ERROR = re.compile(r"^(?:[A-Za-z_][\w.]*\.)?([A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit))\b(?::|$)")
_NOT_IMPORTED = ("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "TabError")
_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+), in (\S+)', re.MULTILINE)


@dataclass(frozen=True)
class ScriptRun:
    """A finished run of a test script.

    Attributes:
        exit_code: of the script.
        log: what it wrote to the logs under ``unit_test/``.
        stdout, stderr: what it printed, the end of each.
        timed_out: killed at its time limit.
        out_of_memory: killed at its memory limit, where that can be told.
        all_logs: every log that is there afterwards, those that it did not write included.
        seconds: what it took.
        stopped: killed because it filled the disk, or because the evaluation was ended.
    """

    exit_code: int
    log: str
    stdout: str
    stderr: str
    timed_out: bool = False
    out_of_memory: bool = False
    stopped: bool = False
    all_logs: str = ""
    seconds: float = 0.0

    @property
    def output(self) -> str:
        """Everything it printed."""
        return f"{self.stdout}\n{self.stderr}"

    @property
    def evidence(self) -> frozenset[str]:
        """What it says in favour of a pass."""
        return frozenset(self._evidence())

    def _evidence(self) -> Iterator[str]:
        if _PASSED.search(self.log):
            yield "its log says Passed"
        if _PASSED.search(self.stdout):
            yield "it prints Passed"
        ran = _UNITTEST.search(self.output)
        if ran and _UNITTEST_OK.search(self.output):
            yield f"unittest ran {ran[1]} tests"
        passed = _PYTEST.search(self.output)
        if passed:
            yield f"pytest passed {passed[1]} tests"

    @property
    def logged_failure(self) -> bool:
        """Whether a log says Failed."""
        return bool(_FAILED.search(self.log))

    @property
    def printed_failure(self) -> bool:
        """Whether it prints Failed."""
        return bool(_FAILED.search(self.stdout))

    @property
    def cause(self) -> str:
        """The error it ended with, or its last line; "" for no output."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        errors = [line for line in lines if _ERROR.match(line)]
        return (errors or lines or [""])[-1][:200]

    @property
    def error(self) -> str:
        """Class of the error that it ended with; ""."""
        match = _ERROR.match(self.cause)
        return match[1] if match else ""

    def in_function(self, goal_file: str, names: frozenset[str]) -> bool:
        """Whether a traceback that was printed or logged passes through one of some functions of a file."""
        return any(
            path.endswith("/" + goal_file) and name.rpartition(".")[2] in names
            for path, _, name in _FRAME.findall(f"{self.output}\n{self.log}")
        )

    def blames_mask(self, goal_file: str, names: frozenset[str]) -> bool:
        """Whether a failure comes of the mask, given that the golden passes, from which only the mask differs.

        It does unless the run ended because something could not be imported.
        """
        if "NotImplementedError" in f"{self.output}{self.log}" or self.in_function(goal_file, names):
            return True
        return self.error not in _NOT_IMPORTED


@dataclass(frozen=True)
class Profile:
    """What a pass looks like: what the golden's run says."""

    evidence: frozenset[str] = frozenset()
    logged_failure: bool = False
    printed_failure: bool = False

    @classmethod
    def of(cls, golden: ScriptRun) -> Profile:
        """Taken from a golden's run that passed."""
        return cls(golden.evidence, golden.logged_failure, golden.printed_failure)

    @property
    def described(self) -> str:
        """What a pass needs, for people."""
        return ", ".join(["exit code 0", *sorted(self.evidence)])


def problem(run: ScriptRun, profile: Profile | None) -> str:
    """Why a run is no pass, one line; "" when it is one.

    Args:
        profile: what a pass looks like; None for the golden itself.
    """
    if run.stopped:
        return "the test was stopped: it filled the disk"
    if run.timed_out:
        return "the test script ran into its time limit"
    if run.exit_code != 0:
        said = ", although its log says Passed" if "its log says Passed" in run.evidence else ""
        return f"the test script exits {run.exit_code}{said}: {run.cause or 'no output'}"
    known = profile or Profile(printed_failure=bool(run.evidence))
    if run.logged_failure and not known.logged_failure:
        return f"the test script exits 0, but its log says Failed{_because(run)}"
    if run.printed_failure and not known.printed_failure:
        return f"the test script exits 0, but it prints Failed{_because(run)}"
    missing = sorted(known.evidence - run.evidence)
    if missing:
        return f"the test script exits 0, but unlike with the golden, not: {'; '.join(missing)}"
    return ""


def _because(run: ScriptRun) -> str:
    return f" ({run.cause})" if run.error else ""


def advice(run: ScriptRun) -> str:
    """What to do when the golden does not pass, where the output tells."""
    text = f"{run.output}{run.log}"
    missing = re.search(r"No module named '([\w.]+)'", text)
    if missing:
        return (
            f"this environment lacks {missing[1]}: use --sandbox docker, or an interpreter that has it (--python), "
            f"or make one: lmr-author env local --with {missing[1].partition('.')[0]}"
        )
    known = (
        (
            "Weights only load failed",
            "its data were saved for an older PyTorch: torch.load needs weights_only=False there",
        ),
        (
            "invalid load key, 'v'",
            "its data file is a Git LFS pointer, not the data: run `lmr-author validate`",
        ),
        ("Found no NVIDIA driver", "the test needs a GPU"),
        ("not compiled with CUDA", "the test needs a GPU"),
        ("No CUDA GPUs", "the test needs a GPU"),
        ("FileNotFoundError", "a file that the test reads is not in the task: run `lmr-author validate`"),
        ("Network is unreachable", "the test needs the network, which no sandbox has"),
        ("Temporary failure in name resolution", "the test needs the network, which no sandbox has"),
        ("We couldn't connect to", "the test needs the network, which no sandbox has"),
    )
    # The error itself first: a warning above it may name another of these.
    return next((hint for place in (run.cause, text) for sign, hint in known if sign in place), "")

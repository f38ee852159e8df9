"""The options of a recording: of the verb, of a recipe, and of a manifest."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from typing import Annotated

import msgspec

from lmr_author.core.errors import LmrError
from lmr_author.core.task.recording import Recording

FEWEST_CASES = 3


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """A way to record the target's calls: a command, the repository's tests, or calls written out.

    Attributes:
        command: command that calls the target, as typed; with `from_tests`, more words for pytest.
        from_tests: run the repository's own tests.
        examples: calls written out, as f(torch.randn(4)).
        cases: cases to keep, and more if each adds something; null for a few dozen where calls are small and fast.
        seconds: time limit of the command.
        gradients: compare gradients, too; where the golden detaches, they are in any case.
        in_place: an implementation has to change the arguments that the golden changes, `.grad` of tensors included.
        checks: PATH=KIND, how parts of the outcome are compared.
        cuda_as_cpu: run code that insists on a GPU on the CPU.
    """

    command: str = ""
    from_tests: bool = False
    examples: tuple[str, ...] = ()
    cases: Annotated[int, msgspec.Meta(ge=1, le=50)] | None = None
    seconds: Annotated[float, msgspec.Meta(ge=1, le=1e7)] = 600.0
    gradients: bool = False
    in_place: bool | None = None
    checks: tuple[str, ...] = ()
    cuda_as_cpu: bool = False

    @classmethod
    def of(cls, recording: Recording) -> RecordOptions:
        """Return how a recording was made. Raises LmrError where its options are none."""
        words = recording.command
        values = {**recording.options, "cuda_as_cpu": recording.cuda_as_cpu}
        if words[:3] == ("lmr-author", "record", "--from-tests"):
            values |= {"from_tests": True, "command": shlex.join(words[4:])}
        elif words[:2] == ("lmr-author", "record"):
            values |= {"examples": words[3::2]}
        else:
            values |= {"command": shlex.join(words)}
        try:
            return msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            raise LmrError(
                f"the options of the recording cannot be read: {error}",
                "record again: lmr-author record --force",
            ) from error

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(shlex.split(self.command))

    @property
    def drives(self) -> bool:
        """True where they say what calls the target."""
        return bool(self.command or self.from_tests or self.examples)

    @property
    def fewest_cases(self) -> int:
        """Number of cases that are kept whether each helps or not."""
        return self.cases or FEWEST_CASES

    @property
    def unusual(self) -> dict[str, object]:
        """Those of a manifest: they decide what is recorded and how it is compared, and are not as usual."""
        names = ("cases", "seconds", "gradients", "in_place", "checks")
        defaults = {option.name: option.default for option in fields(self)}
        return {name: getattr(self, name) for name in names if getattr(self, name) != defaults[name]}

"""A Dockerfile as it is sent to the engine, and the log that comes back: which step, on which line.

The legacy builder (the only one that the SDK can use) numbers the instructions and names each layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

KEPT_LINES = 200
"""So many last lines of an instruction's output are kept to explain a failure by."""

_STEP = re.compile(r"Step (\d+)/(\d+) : (.*)")
_LAYER = re.compile(r" ---> ([0-9a-f]{12,64})")
_LINE = re.compile(r"\b(line) (\d+)")
_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)(?=\s|$)")


@dataclass(frozen=True)
class Step:
    """An instruction that the engine has come to, as in ``Step 3/14 : RUN …``."""

    number: int
    total: int
    text: str


def read_step(line: str) -> Step | None:
    """The step that a line of the log begins, if it does."""
    match = _STEP.match(line)
    return Step(int(match[1]), int(match[2]), match[3]) if match else None


@dataclass(frozen=True)
class Labelled:
    """A Dockerfile with our label on every layer, and where its instructions were before.

    Attributes:
        text: what the engine is given.
        lines: for each line of ``text``, its number in the file as it is (from 1).
        starts: for each instruction of ``text``, the same of its first line.
    """

    text: str
    lines: tuple[int, ...]
    starts: tuple[int, ...]

    def line_of(self, step: Step | None) -> int:
        """The line on which a step begins, 0 when there is none."""
        known = step is not None and 0 < step.number <= len(self.starts)
        return self.starts[step.number - 1] if known and step else 0

    def in_the_file(self, reason: str) -> str:
        """The engine's message with the line numbers of the file as it is."""

        def real(match: re.Match[str]) -> str:
            number = int(match[2])
            return f"{match[1]} {self.lines[number - 1]}" if 0 < number <= len(self.lines) else match[0]

        return _LINE.sub(real, reason)


def rebased(text: str, base: str) -> str:
    """The Dockerfile on another base image, where its only FROM names one outright instead of by an ARG.

    Hand-made Dockerfiles have no ``ARG BASE_IMAGE`` that a build argument could set.
    """
    found = list(_FROM.finditer(text))
    if len(found) != 1 or "$" in found[0]["image"]:
        return text
    start, end = found[0].span("image")
    return text[:start] + base + text[end:]


def named_base(step: str, text: str, args: Mapping[str, str]) -> str:
    """A step ``FROM ${BASE_IMAGE}`` with the image that is meant, which the engine's log does not name.

    Args:
        text: of the Dockerfile.
        args: build arguments.
    """
    default = re.search(r"^[ \t]*ARG[ \t]+BASE_IMAGE=[\"']?([^\s\"']+)", text, re.IGNORECASE | re.MULTILINE)
    image = args.get("BASE_IMAGE") or (default[1] if default else "")
    if not image or not step.upper().startswith("FROM "):
        return step
    return re.sub(r"\$(?:BASE_IMAGE\b|\{BASE_IMAGE(?::-[^}]*)?\})", lambda _: image, step)


_FROM = re.compile(r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>[^\s\\]+)", re.IGNORECASE | re.MULTILINE)


def labelled(text: str, label: str) -> Labelled:
    """Put ``LABEL <label>`` after each FROM.

    Labels given beside a Dockerfile are on the finished image only. On every layer they let us find what a
    killed engine leaves of a build, containers too, since a container inherits them.
    """
    made: list[str] = []
    lines: list[int] = []
    starts: list[int] = []
    for first, block in _instructions(text):
        name = _INSTRUCTION.match(block[0])
        if name:
            starts.append(first)
        made += block
        lines += range(first, first + len(block))
        if name and name[1].upper() == "FROM":
            made.append(f"LABEL {label}")
            lines.append(first)
            starts.append(first)
    return Labelled("\n".join(made) + "\n", tuple(lines), tuple(starts))


def _instructions(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each instruction (or comment, or blank line) with its number and its physical lines."""
    escape = "`" if re.match(r"(?:#.*\n)*#\s*escape\s*=\s*`", text) else "\\"
    block: list[str] = []
    # Not splitlines(): only a line feed ends a line for the engine.
    lines = text.removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        plain = line.rstrip("\r").rstrip()
        block.append(line.rstrip("\r"))
        inside = len(block) > 1
        comment = plain.lstrip().startswith("#")
        # Within an instruction, comments and blank lines are passed over.
        if (inside and (comment or not plain)) or (plain.endswith(escape) and not comment):
            continue
        yield number - len(block) + 1, block
        block = []
    if block:
        yield len(lines) - len(block) + 1, block


@dataclass
class BuildLog:
    """Where a build is, from its log."""

    step: Step | None = None
    layer: str = ""
    said: list[str] = field(default_factory=list)

    def see(self, line: str) -> bool:
        """Take a line in. True when it names a new layer."""
        if step := read_step(line):
            self.step, self.said = step, []
        elif match := _LAYER.fullmatch(line.rstrip()):
            self.layer = match[1]
            return True
        elif line.strip():
            self.said = [*self.said[1 - KEPT_LINES :], line.rstrip()]
        return False

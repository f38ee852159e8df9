"""Keys that a test types at questions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from prompt_toolkit.input import PipeInput
from questionary import Question

ESCAPE = "\x1b"


@contextmanager
def typed(keys: PipeInput, *answers: str) -> Iterator[None]:
    """Type an answer at each question of the block: all at once, Escape before a letter would be another key."""
    waiting, ask = list(answers), Question.unsafe_ask

    def answered(question: Question) -> Any:
        keys.send_text(waiting.pop(0))
        return ask(question)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Question, "unsafe_ask", answered)
        yield
    assert waiting == []

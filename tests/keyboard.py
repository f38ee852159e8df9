"""Keys that a test types at a question."""

from __future__ import annotations

import threading
import time

from prompt_toolkit.input import PipeInput

ESCAPE = "\x1b"


def typed(keys: PipeInput, *strokes: str) -> None:
    """Type one after the other, with pauses: Escape at once before a letter would be another key."""

    def send() -> None:
        for stroke in strokes:
            time.sleep(0.4)
            keys.send_text(stroke)

    threading.Thread(target=send, daemon=True).start()

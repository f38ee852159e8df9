"""Programs that show for how long they run."""

from __future__ import annotations

import time
from pathlib import Path

HEARTBEAT = """
import os, sys, time
def beat():
    while True:
        with open(sys.argv[1], "a") as file:
            file.write("x")
        time.sleep(0.02)
"""
GRANDCHILD = (
    HEARTBEAT
    + """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        beat()
    os._exit(0)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
"""
)


def stopped(beat: Path) -> bool:
    """Return whether a heartbeat, which did beat, has stopped."""
    before = beat.stat().st_size
    time.sleep(0.3)
    return 0 < before == beat.stat().st_size

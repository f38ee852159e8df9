"""Assertions in threads and processes: those whose failure is lost, and those that somebody looks at."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

WORK = "import multiprocessing, threading\n\n\ndef work(*given):\n    assert pairwise_loss([1.0], [3]) == (0.0, 1.0)\n"
THREAD = "\n\none = threading.Thread(target=work)\none.start()\none.join()\n"
PROCESS = "\n\none = multiprocessing.Process(target=work, args=(1,))\none.start()\none.join()\n"
EXECUTOR = (
    "\n\nfrom concurrent.futures import ThreadPoolExecutor\n\nwith ThreadPoolExecutor() as some:\n"
    "    one = some.submit(work, 1)\n"
)
POOL = "\n\nwith multiprocessing.Pool() as some:\n    some.apply_async(work)\n    some.close()\n    some.join()\n"
LOST = {
    "a thread": WORK + THREAD,
    "a process": WORK + PROCESS,
    "an executor": WORK + EXECUTOR,
    "a pool": WORK + POOL,
}
SEEN = {
    "the exit code": WORK + PROCESS + "assert one.exitcode == 0\n",
    "the result of an executor": WORK + EXECUTOR + "one.result()\n",
    "those that are done": WORK
    + EXECUTOR.replace("import Th", "import as_completed, Th")
    + "print(*(found for found in as_completed([one])))\n",
    "what a pool gives": WORK + POOL.replace("work)", "work).get()"),
    "it is called, too": WORK + THREAD + "work()\n",
    "something else is asserted": WORK + THREAD + "assert pairwise_loss([1.0], [3])[1] == 1.0\n",
    "a list": "import sys\ndone = []\n"
    + WORK
    + "    done.append(1)\n"
    + THREAD
    + "sys.exit(0 if done else 1)\n",
    "a hook": "import os\n" + WORK + "\n\nthreading.excepthook = lambda given: os._exit(1)" + THREAD,
}


def _said(folder: Path, lines: str) -> list[str]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(START + lines + "logging.info('Passed')\n", "utf-8")
    found = validate([task], select_checks(select=["LMR502"])).findings
    return [one.message for one in found if "of its own" in one.message]


@pytest.mark.parametrize("lines", LOST.values(), ids=LOST)
def test_it_is_found(lines: str, tmp_path: Path) -> None:
    assert len(_said(tmp_path, lines)) == 1


@pytest.mark.parametrize("lines", SEEN.values(), ids=SEEN)
def test_it_is_left_alone(lines: str, tmp_path: Path) -> None:
    assert _said(tmp_path, lines) == []

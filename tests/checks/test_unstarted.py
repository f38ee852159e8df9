"""What never starts: tests below a misspelt ``__main__``, and coroutines that nothing awaits."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.example_texts import UNIT_TEST
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

CASE = (
    "class TestLoss(unittest.TestCase):\n    async def test_loss(self):\n"
    "        self.assertEqual(pairwise_loss([1.0], [3]), (0.0, 1.0))\n\n\n"
)
MAIN = 'if __name__ == "__main__":\n    unittest.main()\n'
BODY = "    assert pairwise_loss([1.0], [3]) == (0.0, 1.0)\n"
CHECK = f"import asyncio\n\n\nasync def check():\n{BODY}\n\n"
NEVER = {
    "a misspelt main": UNIT_TEST.replace('__name__ == "__main__"', '__name__ == "main"'),
    "a coroutine as a test": START + CASE + MAIN,
    "by another name": START
    + "from unittest import TestCase as Base\n\n\n"
    + CASE.replace("unittest.TestCase", "Base")
    + MAIN,
    "a coroutine that nothing awaits": f"{START}{CHECK}check()\n",
    "one that nothing awaits in main": f"{START}{CHECK}def main():\n    check()\n\n\nmain()\n",
    "a method": START
    + CASE.replace("test_loss", "check")
    + "    def test_it(self):\n        self.check()\n\n\n"
    + MAIN,
}
LEFT_OVER = {
    "another test": START + CASE + "    def test_share(self):\n    " + BODY + "\n\n" + MAIN,
    "another assertion": f"{START}{CHECK}check()\nassert pairwise_loss([1.0], [3])[1] == 1.0\n",
    "a main that only prints": UNIT_TEST + "if __name__ == 'main':\n    print('over')\n",
}
STARTED = {
    "a case that awaits": START + CASE.replace(".TestCase", ".IsolatedAsyncioTestCase") + MAIN,
    "one of another library": "from asynctest import TestCase\n"
    + START
    + CASE.replace("unittest.Test", "Test")
    + MAIN,
    "a decorator that runs it": START
    + "from tools import run\n\n\n"
    + CASE.replace("    async", "    @run\n    async")
    + MAIN,
    "it is run": f"{START}{CHECK}asyncio.run(check())\n",
    "it is kept and run": f"{START}{CHECK}found = check()\nasyncio.run(found)\n",
    "it is awaited": f"{START}{CHECK}async def main():\n    await check()\n\n\nasyncio.run(main())\n",
    "it is called by name": START
    + CASE
    + "    def test_it(self):\n        import asyncio\n        asyncio.run(self.test_loss())\n\n\n"
    + MAIN,
    "main, as it is written": UNIT_TEST,
}


def _said(folder: Path, text: str) -> list[tuple[str, str]]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(text, "utf-8")
    found = validate([task], select_checks(select=["LMR502"])).findings
    return [(one.severity, one.message) for one in found if "never" in one.message]


@pytest.mark.parametrize("text", NEVER.values(), ids=NEVER)
def test_nothing_of_it_starts(text: str, tmp_path: Path) -> None:
    ((severity, message),) = _said(tmp_path, text)
    assert severity == "error"
    assert "never " in message


@pytest.mark.parametrize("text", LEFT_OVER.values(), ids=LEFT_OVER)
def test_something_else_is_left(text: str, tmp_path: Path) -> None:
    ((severity, _),) = _said(tmp_path, text)
    assert severity == "warning"


@pytest.mark.parametrize("text", STARTED.values(), ids=STARTED)
def test_all_of_it_starts(text: str, tmp_path: Path) -> None:
    assert _said(tmp_path, text) == []


def test_pytest_needs_no_main(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (task.root / TEST).write_text(NEVER["a misspelt main"], "utf-8")
    place = task.root / "Dockerfile"
    place.write_text(place.read_text("utf-8") + 'CMD ["pytest", "unit_test"]\n', "utf-8")
    assert validate([task], select_checks(select=["LMR502"])).findings == ()

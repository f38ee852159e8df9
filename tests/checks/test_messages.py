"""Messages with "Passed" in them: those that are there whatever the result is, and those that tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

OK = "ok = pairwise_loss([1.0], [3]) == (0.0, 1.0)\n"
END = "sys.exit(0 if ok else 1)\n"
ANYWAY = {
    "formatted": "logging.info(f'Passed: {ok}')\n",
    "by format()": "logging.info('Passed: {}'.format(ok))\n",
    "by %": "logging.info('Passed: %s' % ok)\n",
    "added": "logging.info('Passed: ' + str(ok))\n",
    "an argument": "logging.info('Passed: %s', ok)\n",
    "both": "logging.info('Passed: %d, Failed: %d', int(ok), int(not ok))\n",
    "a share": "passed = int(ok)\nlogging.info(f'{passed}/{1 + 0} tests Passed')\n",
    "a share behind": "passed = int(ok)\nlogging.info(f'Passed: {passed} of 1')\n",
}
TELLING = {
    "a word": "logging.info('%s', 'Passed' if ok else 'Failed')\n",
    "also printed": "print('Passed:', ok)\nlogging.info('Passed' if ok else 'Failed')\n",
    "the case that was passed": "assert ok\nfor i in range(3):\n    logging.info(f'Test {i}/{3} Passed')\n",
    "a case": "for i in range(3):\n    logging.info(f'Test {i}/{3}: Passed')\n",
    "what failed, too": "n = int(ok)\nlogging.info(f'{n}/{1 + 0} ok, Passed' if ok else 'Failed')\n",
    "both, where it failed": "if not ok:\n    logging.info('Passed: %d, Failed: %d', int(ok), 1)\n    sys.exit(1)\n"
    "logging.info('Passed')\n",
    "how many, when all did": "passed = int(ok)\nif passed < 1:\n    sys.exit(1)\n"
    "logging.info(f'{passed}/{1 + 0} tests Passed')\n",
}


def _said(folder: Path, lines: str) -> list[str]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(START + OK + lines + END, "utf-8")
    return [one.message for one in validate([task], select_checks(select=["LMR507"])).findings]


@pytest.mark.parametrize("lines", ANYWAY.values(), ids=ANYWAY)
def test_it_is_there_whatever_the_result_is(lines: str, tmp_path: Path) -> None:
    assert len(_said(tmp_path, lines)) == 1


@pytest.mark.parametrize("lines", TELLING.values(), ids=TELLING)
def test_it_tells(lines: str, tmp_path: Path) -> None:
    assert _said(tmp_path, lines) == []


def test_a_file_that_is_only_read_keeps_nothing(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    lines = "import os, sys\nfrom ranking.losses import pairwise_loss\nwanted = open('README.md').read()\n"
    (task.root / TEST).write_text(f"{lines}{OK}print('all passed')\n{END}", "utf-8")
    (found,) = validate([task], select_checks(select=["LMR507"])).findings
    assert (found.severity, found.pointer) == ("note", "L5")
    assert "only prints 'passed'" in found.message

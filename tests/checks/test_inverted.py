"""Exit codes that are the wrong way round, and those that are not, or of which that is not certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import CALL, START, TEST
from lmr_author.validation.run import select_checks, validate

CLOSE = "abs(loss - 1.0599649) < 1e-6"
WRONG_WAY_ROUND = {
    "a comparison": f"    return {CLOSE}\n\n\nsys.exit(main())\n",
    "as a number": f"    return bool({CLOSE})\n\n\nexit(int(main()))\n",
    "by way of a name": f"    return {CLOSE}\n\n\nok = main()\nraise SystemExit(ok)\n",
    "constants": f"    if {CLOSE}:\n        return True\n    return False\n\n\nsys.exit(main())\n",
    "early": f"    if not {CLOSE}:\n        return False\n    return True\n\n\nsys.exit(main())\n",
    "a lowered flag": f"    ok = True\n    if not {CLOSE}:\n        ok = False\n    return ok\n\n\nsys.exit(main())\n",
    "as it is logged": "    if check(loss):\n        print('Passed')\n        return True\n"
    "    print('Failed')\n    return False\n\n\nsys.exit(main())\n",
    "an exception": "    try:\n        assert loss == 1\n    except AssertionError:\n        return False\n"
    "    return True\n\n\nsys.exit(main())\n",
    "all of a list": "    return all(abs(a - b) < 1e-6 for a, b in zip((loss,), (1.06,)))\n\n\nsys.exit(main())\n",
    "in a function": f"    return {CLOSE}\n\n\ndef start():\n    sys.exit(main())\n\n\nstart()\n",
    "against golden values": "    return np.allclose(loss, golden)\n\n\nsys.exit(main())\n",
}
RIGHT_OR_UNCLEAR = {
    "negated": f"    return {CLOSE}\n\n\nsys.exit(not main())\n",
    "a code": f"    return 0 if {CLOSE} else 1\n\n\nsys.exit(main())\n",
    "chosen": f"    return {CLOSE}\n\n\nsys.exit(0 if main() else 1)\n",
    "whether it differs": "    return loss != 1.06\n\n\nsys.exit(main())\n",
    "how far it is off": "    return abs(loss - 1.06) > 1e-6\n\n\nsys.exit(main())\n",
    "whether it failed": f"    failed = not {CLOSE}\n    return failed\n\n\nsys.exit(main())\n",
    "constants of a failure": f"    if {CLOSE}:\n        return False\n    return True\n\n\nsys.exit(main())\n",
    "a raised flag": f"    failed = False\n    if not {CLOSE}:\n        failed = True\n"
    "    return failed\n\n\nsys.exit(main())\n",
    "logged": "    if check(loss):\n        print('Failed')\n        return True\n    print('Passed')\n"
    "    return False\n\n\nsys.exit(main())\n",
    "an exception": "    try:\n        assert loss == 1\n    except AssertionError:\n        return True\n"
    "    return False\n\n\nsys.exit(main())\n",
    "nothing has changed": "    return np.array_equal(before, loss)\n\n\nsys.exit(main())\n",
    "another's code": f"    assert {CLOSE}\n    return subprocess.call(['true']) == 1\n\n\nsys.exit(main())\n",
    "constants that tell nothing": f"    assert {CLOSE}\n    return False\n\n\nsys.exit(main())\n",
    "counted": f"    failures = 0\n    failures += not {CLOSE}\n    return failures\n\n\nsys.exit(main())\n",
    "one that calls itself": "    if loss > 5:\n        return main()\n    return main()\n\n\nsys.exit(main())\n",
    "any of them": f"    return any([{CLOSE}])\n\n\nsys.exit(main())\n",
    "a verdict or a code": f"    if loss > 5:\n        return 2\n    return {CLOSE}\n\n\nsys.exit(main())\n",
}


def _said(folder: Path, end: str) -> list[str]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(START + "def main():\n" + CALL + end, "utf-8")
    found = validate([task], select_checks(select=["LMR502"])).findings
    return [one.message for one in found if "wrong way round" in one.message]


@pytest.mark.parametrize("end", WRONG_WAY_ROUND.values(), ids=WRONG_WAY_ROUND)
def test_it_is_found(end: str, tmp_path: Path) -> None:
    assert len(_said(tmp_path, end)) == 1


@pytest.mark.parametrize("end", RIGHT_OR_UNCLEAR.values(), ids=RIGHT_OR_UNCLEAR)
def test_it_is_left_alone(end: str, tmp_path: Path) -> None:
    assert _said(tmp_path, end) == []

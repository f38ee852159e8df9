"""Unit tests put together from the ways people write them: what is compared, how it is said, what runs it.

All of them pass with the golden of the example task. Whether one can fail is not written down here: it is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

HEAD = """\
import contextlib
import copy
import json
import logging
import math
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

os.makedirs(os.path.join(HERE, "logs"), exist_ok=True)
logging.basicConfig(filename=os.path.join(HERE, "logs", "unit_test_1.log"), level=logging.INFO)
EXPECTED = {"loss": 1.059964857}


def computed():
    return pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)


def close(a, b, tolerance=1e-6):
    if abs(a - b) > tolerance:
        return False
    return True


"""
GOT = (
    "got, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)",
    "got = pairwise_loss(scores=[0.5, 2.0, -1.0], labels=[0, 2, 1])[0]",
    "got, _ = computed()",
    "outputs = [computed()]\ngot = outputs[0][0]",
    "output = {}\noutput['loss'], output['share'] = computed()\ngot = output['loss']",
)
WANT = (
    "want = 1.059964857",
    "want = EXPECTED['loss']",
    "want = EXPECTED['loss']",
    "with open(os.path.join(HERE, 'expected.json')) as file:\n    want = json.load(file)['loss']",
    "want = got",
    "want = copy.deepcopy(got)",
)
TWICE = "got, share = computed()\nwant, _ = computed()"
"""The target itself computes what is expected of it."""
EQUAL = (
    "abs(got - want) < 1e-6",
    "not abs(got - want) > 1e-6",
    "1e-6 > abs(got - want)",
    "math.isclose(got, want, rel_tol=1e-6)",
    "round(got, 6) == round(want, 6)",
    "(got - want) ** 2 < 1e-10",
    "all(abs(a - b) < 1e-6 for a, b in zip([got], [want]))",
    "f'{got:.5f}' == f'{want:.5f}'",
    "close(got, want)",
)
SAYS = (
    ("assert {equal}", ""),
    ("assert {equal}, f'{{got}} is not {{want}}'", ""),
    ("if not ({equal}):\n    raise AssertionError('wrong loss')", ""),
    ("if {equal}:\n    logging.info('Passed')\nelse:\n    logging.info('Failed')\n    sys.exit(1)", ""),
    ("assert ({equal}, 'the loss is right')", ""),
    ("assert {equal} or True", ""),
    ("print('Passed' if {equal} else 'Failed')", ""),
    ("{equal}", ""),
    ("passed = {equal}", "passed"),
    ("passed = True\nif not ({equal}):\n    passed = False", "passed"),
    ("errors = []\nif not ({equal}):\n    errors.append('loss')", "not errors"),
    ("verdict = 'Passed' if {equal} else 'Failed'\nlogging.info(verdict)", "verdict == 'Passed'"),
    ("count = 0\nif {equal}:\n    count += 1", "count == 1"),
)
"""How it is said, and what is then true when the test passed; "" when nothing is."""
ENDS = (
    "assert {true}",
    "sys.exit(0 if {true} else 1)",
    "if not ({true}):\n    raise SystemExit(1)",
    "if {true}:\n    logging.info('Passed')\nelse:\n    logging.info('Failed')\n    sys.exit(1)",
    "logging.info('Passed' if {true} else 'Failed')",
    "print({true})",
)
USES = {
    "return {true}": (
        "if not {call}:\n    sys.exit(1)",
        "assert {call}",
        "sys.exit(0 if {call} else 1)",
        "{call}",
    ),
    "return 0 if {true} else 1": ("sys.exit({call})", "raise SystemExit({call})", "{call}"),
    "logging.info('done')": ("{call}", "sys.exit({call})", "{call}\nsys.exit(0)"),
}
"""What a function returns → how it is called."""
AROUND = (
    "{body}",
    "{body}",
    "{body}",
    "try:\n{inside}\nexcept Exception as error:\n    logging.error('Failed: %s', error)",
    "try:\n{inside}\nexcept Exception as error:\n    logging.error('Failed: %s', error)\n    raise",
    "try:\n{inside}\nexcept AssertionError:\n    logging.error('Failed')\n    sys.exit(1)",
    "try:\n{inside}\nexcept (KeyError, OSError):\n    print('no data')",
    "try:\n{inside}\nfinally:\n    print('finished')",
    "with contextlib.suppress(Exception):\n{inside}",
    "for attempt in range(2):\n{inside}",
)
METHODS = (
    "self.assertAlmostEqual(got, want, places=6)",
    "self.assertTrue({equal})",
    "self.assertFalse(not ({equal}))",
    "self.assertLess(abs(got - want), 1e-6)",
    "if not ({equal}):\n    self.fail('wrong loss')",
    "assert {equal}",
)
RUNNERS = (
    "unittest.main()",
    "unittest.main(exit=False)",
    "try:\n    unittest.main()\nexcept SystemExit:\n    pass",
    "program = unittest.main(exit=False)\nsys.exit(not program.result.wasSuccessful())",
    "program = unittest.main(exit=False)\nlogging.info('Passed' if program.result.wasSuccessful() else 'Failed')",
    "got = unittest.TextTestRunner().run(unittest.TestSuite([LossTest('test_loss')]))\nsys.exit(len(got.failures))",
    "got = unittest.main(exit=False).result\nif got.failures or got.errors:\n    sys.exit(1)",
)
CALLERS = (
    "{name}()",
    "for test in [{name}]:\n    test()",
    "for name, test in list(globals().items()):\n    if name.startswith('test_'):\n        test()",
)

TRIED = """\
def run(test):
    try:
        test()
        return True
    except Exception as error:
        print("Failed", error)
        return False


"""
VERDICTS = (
    "sys.exit(0 if run(test_loss) else 1)",
    "results = [run(test) for test in [test_loss]]\nsys.exit(0 if all(results) else 1)",
    "if not run(test_loss):\n    sys.exit(1)",
    "assert run(test_loss)",
    "run(test_loss)",
)


@dataclass(frozen=True)
class Writer:
    """Somebody who writes tests, with habits of their own."""

    habits: Random

    def test(self) -> str:
        """A unit test of ``pairwise_loss``."""
        body = self.habits.choice((self._script, self._function, self._method, self._class, self._tried))()
        return HEAD + body + "\n"

    def _pick(self, choices: Sequence[str]) -> str:
        return self.habits.choice(choices)

    def _equal(self, pattern: str) -> str:
        return pattern.format(equal=self._pick(EQUAL))

    def _values(self) -> str:
        return TWICE if self.habits.random() < 0.15 else f"{self._pick(GOT)}\n{self._pick(WANT)}"

    def _said(self) -> tuple[str, str]:
        says, true = self.habits.choice(SAYS)
        return f"{self._values()}\n{self._equal(says)}", true

    def _around(self, body: str) -> str:
        return self._pick(AROUND).format(body=body, inside=_indented(body))

    def _script(self) -> str:
        body, true = self._said()
        return self._around(
            "\n".join((body, self._pick(ENDS).format(true=true) if true else "print('done')"))
        )

    def _function(self) -> str:
        body, call = self._returning("test_loss()")
        if self.habits.random() < 0.2:
            call = self._pick(CALLERS).format(name="test_loss")
        return f"def test_loss():\n{_indented(body)}\n\n\n{_main(call)}"

    def _tried(self) -> str:
        body, _ = self._returning("")
        return f"{TRIED}def test_loss():\n{_indented(body)}\n\n\n{_main(self._pick(VERDICTS))}"

    def _method(self) -> str:
        body, call = self._returning("Runner().run()")
        method = _indented(f"def run(self):\n{_indented(body)}")
        return f"class Runner:\n{method}\n\n\n{_main(call)}"

    def _returning(self, call: str) -> tuple[str, str]:
        """The body of a function, and how it is called."""
        body, true = self._said()
        end = self._pick((*ENDS[:-2], *USES)) if true else "logging.info('done')"
        use = self._pick(USES.get(end, USES["logging.info('done')"]))
        return self._around("\n".join((body, end.format(true=true)))), use.format(call=call)

    def _class(self) -> str:
        body = f"{self._values()}\n{self._equal(self._pick(METHODS))}"
        method = _indented(f"def test_loss(self):\n{_indented(self._around(body))}")
        return f"class LossTest(unittest.TestCase):\n{method}\n\n\n{_main(self._pick(RUNNERS))}"


def _main(body: str) -> str:
    return f'if __name__ == "__main__":\n{_indented(body)}'


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))

"""LMR509: what a unit test needs beside the task."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import GOLDEN, MASKED, REPOSITORY, UNIT_TEST
from lmr_author.checks.follow import imports
from lmr_author.checks.needs import corpus_call, installs_corpora, needs
from lmr_author.checks.needs_gpu import cuda_line, moves_by_default
from lmr_author.checks.pairing import pair
from lmr_author.checks.reading import Reading, reading, reading_of
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import children, is_main_guard

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"

_LOADING = "from transformers import AutoModel\n\nMODEL = AutoModel.from_pretrained('gpt2')\n"
_SCRIPT = (
    "\n\nif __name__ == '__main__':\n    import transformers as t\n    t.AutoModel.from_pretrained('gpt2')\n"
)


def _on_device(source: str) -> str:
    """A goal file, or golden, whose function puts what it makes on the device that it is given."""
    made = "    penalties = list(torch.zeros(0, device=device) if scores else [])\n"
    given = source.replace("margin=1.0):", 'margin=1.0, device="cuda"):')
    return given.replace("    penalties = []\n", made)


class RunsAnywhere(ImplementationCheck):
    code = "LMR509"
    title = "the test needs no GPU, no network and no model"
    rationale = (
        "Verification runs on machines without a GPU and without a network. Small recorded inputs test the"
        " same function."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "cuda()",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os", "import torch\nWEIGHTS = torch.ones(3).cuda()\nLOGS = os"
                )
            },
        ),
        Example(
            "a model from a hub",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os",
                    "from transformers import AutoModel\nMODEL ="
                    " AutoModel.from_pretrained('org/model-7b')\nLOGS = os",
                )
            },
        ),
        Example(
            "a model for the repository's own loader",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os", "import ranking\nMODEL = ranking.load('roberta-base')\nLOGS = os"
                )
            },
        ),
        Example(
            "a model that a command is told to load",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os",
                    "import subprocess\nCOMMAND = ['python', 'train.py', '--model', 'bert-base-uncased']\n"
                    "subprocess.run(COMMAND, check=True)\nLOGS = os",
                )
            },
        ),
        Example(
            "a model that the goal file loads when it is imported",
            files={
                f"{REPOSITORY}/ranking/losses.py": _LOADING + MASKED,
                "golden_files/losses_golden.py": _LOADING + GOLDEN,
            },
        ),
        Example(
            "a GPU that is the default of a parameter",
            files={
                f"{REPOSITORY}/ranking/losses.py": _on_device(MASKED),
                "golden_files/losses_golden.py": _on_device(GOLDEN),
            },
        ),
        Example(
            "data that NLTK downloads apart",
            files={
                f"{REPOSITORY}/ranking/losses.py": "from nltk import word_tokenize\n" + MASKED,
                "golden_files/losses_golden.py": "from nltk import word_tokenize\n"
                + GOLDEN.replace("    penalties = []\n", "    penalties = word_tokenize('')\n", 1),
            },
        ),
        Example(
            "a GPU in a variable",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os",
                    "import torch\nDEVICE = 'cuda'\nWEIGHTS = torch.ones(3).to(DEVICE)\nLOGS = os",
                )
            },
        ),
        Example(
            "skipped without a GPU",
            files={
                TEST: UNIT_TEST.replace("import logging\n", "import logging\nimport torch\n").replace(
                    "    def test_no_pairs",
                    "    @unittest.skipIf(not torch.cuda.is_available(), 'no GPU')\n    def test_no_pairs",
                )
            },
        ),
        Example(
            "a request",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os", "import requests\nPAGE = requests.get('https://example.org')\nLOGS = os"
                )
            },
        ),
    )
    passing = (
        Example(
            "a GPU when it is asked for",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os",
                    "import torch\nWEIGHTS = torch.ones(3)\nif len(sys.argv) > 1:\n    WEIGHTS = WEIGHTS.cuda()\n"
                    "LOGS = os",
                )
            },
        ),
        Example(
            "a model that the goal file loads when it is run as a script",
            files={
                f"{REPOSITORY}/ranking/losses.py": MASKED + _SCRIPT,
                "golden_files/losses_golden.py": GOLDEN + _SCRIPT,
            },
        ),
        Example(
            "the CPU is given in each call",
            files={
                f"{REPOSITORY}/ranking/losses.py": _on_device(MASKED),
                "golden_files/losses_golden.py": _on_device(GOLDEN),
                TEST: UNIT_TEST.replace("margin=1.0)", "1.0, 'cpu')").replace("[3])", "[3], device='cpu')"),
            },
        ),
        Example(
            "a GPU only where there is one",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os",
                    "import torch\nDEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'\nLOGS = os",
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each kind of need."""
        test = reading_of(view, implementation)
        if test is None:
            return
        said: set[str] = set()
        for what, line in [
            *needs(view, test),
            *self._of_the_target(view, implementation, test),
            *self._of_the_import(view, implementation, test),
        ]:
            kind = what.partition(":")[0]
            if kind not in said:
                said.add(kind)
                yield self.finding(
                    view,
                    f"needs {what.replace(':', ',', 1)}",
                    _advice(what),
                    implementation=implementation,
                    path=test.path,
                    line=line,
                )

    @staticmethod
    def _of_the_target(
        view: TaskView, implementation: Implementation, test: Reading
    ) -> list[tuple[str, int]]:
        """A GPU, or data of NLTK, that the target's own code demands."""
        one = pair(view, implementation)
        for target in one.targets:
            if target.golden is None or isinstance(target.golden.node, ast.ClassDef):
                continue
            node = target.golden.node
            has_cuda = one.golden is not None and "cuda" in one.golden.text
            moves = has_cuda and (cuda_line(node, {}) or moves_by_default(node, test))
            if moves and "is_available" not in ast.unparse(node):
                return [(f"a GPU: {target.qualname} moves its data to one", 0)]
            found = corpus_call(one.golden, target.golden.node) if one.golden else ""
            if found and "mock" not in test.module.text and not installs_corpora(view):
                return [(f"the network or a model: data of NLTK, for {found}", 0)]
        return []

    @staticmethod
    def _of_the_import(
        view: TaskView, implementation: Implementation, test: Reading
    ) -> list[tuple[str, int]]:
        """What the goal file loads when it is imported, whatever the test does."""
        found, goal = imports(view, implementation), reading(view, pair(view, implementation).goal_path)
        if goal is None or found is None or not found.reaches or "mock" in test.module.text:
            return []
        lines = {node.lineno for node in _on_import(goal.module.tree) if isinstance(node, ast.expr)}
        return [
            (f"{what} (importing {goal.relative} loads it)", 0)
            for what, line in needs(view, goal)
            if line in lines and not what.startswith("a GPU")
        ]


def _advice(what: str) -> str:
    """What to do about a need, as the check words it."""
    if what.startswith("a GPU: without one"):
        return "let it run on the CPU, with small stored inputs, in place of skipping it"
    if " moves its data to one" in what:
        return "hand it the CPU if it takes a device; if not, extract the part of it that needs no GPU"
    if what.startswith("a GPU"):
        return 'use small stored inputs, and the CPU: device = "cpu"'
    if "data of NLTK" in what:
        return "download the data in the Dockerfile, or replace the call with unittest.mock"
    if " loads it)" in what:
        return "replace it with unittest.mock before the import"
    return "store small inputs, and what it would fetch, in unit_test/"


def _on_import(tree: ast.Module) -> Iterator[ast.AST]:
    """What runs when a module is imported: all but functions and what is kept for a script."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if is_main_guard(node):
            stack += node.orelse
            continue
        yield node
        stack += children(node)

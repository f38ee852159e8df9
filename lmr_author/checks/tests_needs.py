"""LMR509: what a unit test needs beside the task."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_task import REPOSITORY, UNIT_TEST
from lmr_author.checks.lookup import pair, unit_test_path
from lmr_author.checks.reading import HOME, Reading, dotted, reading
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import FunctionNode

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
_NETWORK = frozenset(
    [
        "requests.get",
        "requests.post",
        "urllib.request.urlopen",
        "urlopen",
        "urlretrieve",
        "urllib.request.urlretrieve",
        "httpx.get",
        "httpx.post",
        "wget.download",
        "gdown.download",
        "snapshot_download",
        "hf_hub_download",
        "nltk.download",
        "torch.hub.load",
        "openai.OpenAI",
        "OpenAI",
        "openai.ChatCompletion.create",
        "anthropic.Anthropic",
        "spacy.load",
        "gensim.downloader.load",
        "load_dataset",
        "datasets.load_dataset",
        "SentenceTransformer",
    ]
)

_CUDA = re.compile(r"^cuda(:\d+)?$")


class RunsAnywhere(ImplementationCheck):
    """LMR509."""

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
        path = unit_test_path(view, implementation)
        test = reading(view, path)
        if test is None or path is None:
            return
        said: set[str] = set()
        for what, line in [*needs(view, test), *self._of_the_target(view, implementation)]:
            kind = what.partition(":")[0]
            if kind not in said:
                said.add(kind)
                yield self.finding(
                    view,
                    f"needs {what.replace(':', ',', 1)}",
                    "use small stored inputs and the CPU, or guard it with torch.cuda.is_available()",
                    implementation=implementation,
                    path=path,
                    pointer=f"L{line}" if line else "",
                )

    @staticmethod
    def _of_the_target(view: TaskView, implementation: Implementation) -> list[tuple[str, int]]:
        """A GPU that the target's own code demands."""
        one = pair(view, implementation)
        for target in one.targets:
            if target.golden is None or isinstance(target.golden.node, ast.ClassDef):
                continue
            if "is_available" not in ast.unparse(target.golden.node) and _cuda_line(target.golden.node):
                return [(f"a GPU: {target.qualname} moves its data to one", 0)]
        return []


def needs(view: TaskView, test: Reading) -> Iterator[tuple[str, int]]:
    """("a GPU: …", line) for each thing that the test itself needs."""
    source = "\n".join(module.text for module in test.modules)
    if "is_available" not in source:
        line = _cuda_line(test.module.tree)
        if line:
            yield "a GPU", line
    mocked = "mock" in source or "monkeypatch" in source
    for module, node, name in test.calls:
        if module is not test.module or mocked:
            continue
        last = name.rpartition(".")[2]
        first = node.args[0] if node.args else None
        value = test.path_of(first) if last == "from_pretrained" else None
        if last == "from_pretrained" and value is not None and not _is_local(view, value):
            yield f"a model: {value.removeprefix('@/')}", node.lineno
        elif (
            name in _NETWORK
            or (last in ("load_dataset", "hf_hub_download", "snapshot_download", "urlopen", "urlretrieve"))
        ) and not _is_local(view, test.path_of(first) or ""):
            yield f"the network or a model: {name}", node.lineno


def _is_local(view: TaskView, path: str) -> bool:
    if path.startswith("?"):
        return True  # only its end is known: nothing is claimed
    relative = path.removeprefix(HOME).lstrip("/")
    if not relative or view.repository is None or path.startswith(("/", "..")):
        return bool(path.startswith("/"))
    try:
        return (view.repository / relative).exists() or (view.repository / "unit_test" / relative).exists()
    except (OSError, ValueError):
        return False


def _cuda_line(tree: ast.Module | FunctionNode) -> int:
    """The line at which something is moved to a GPU without asking whether there is one; 0 if none is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            last = dotted(node.func).rpartition(".")[2]
            if last == "cuda":
                return node.lineno
            values = [*node.args, *(item.value for item in node.keywords if item.arg == "device")]
            moves = last in ("to", "device", "set_device") or any(
                item.arg == "device" for item in node.keywords
            )
            texts = [value.value for value in values if isinstance(value, ast.Constant)]
            if moves and any(isinstance(text, str) and _CUDA.match(text) for text in texts):
                return node.lineno
    return 0

"""LMR509: what a unit test needs beside the task."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_task import REPOSITORY, UNIT_TEST
from lmr_author.checks.lookup import is_file, is_folder, pair, unit_test_path
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
_HUB = re.compile(
    r"(?:(?:meta-llama|huggyllama|facebook|google|microsoft|openai|EleutherAI|mistralai|Qwen|bigscience|tiiuae|lmsys"
    r"|sentence-transformers|princeton-nlp|allenai|deepseek-ai|THUDM|stabilityai|HuggingFaceH4|HuggingFaceTB|NousResearch"
    r"|TinyLlama|codellama|huggingface|hf-internal-testing|google-bert|openai-community|FacebookAI|distilbert)/[\w.-]+"
    r"|(?:distil|sci)?(?:bert|roberta)-(?:tiny|base|large)[\w-]*|xlm-roberta-(?:base|large)|albert-(?:base|large)-v\d"
    r"|(?:distil)?gpt2(?:-medium|-large|-xl)?|t5-(?:small|base|large|3b|11b)|(?:flan-)t5-[\w]+)"
)
"""Names of models on a hub that tests commonly hand to the repository's own loaders."""


_MODEL_KEYWORDS = ("pretrained_model_name_or_path", "model", "model_name", "model_name_or_path")


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
            "a model for the repository's own loader",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os", "import ranking\nMODEL = ranking.load('roberta-base')\nLOGS = os"
                )
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
            if "is_available" not in ast.unparse(target.golden.node) and _cuda_line(target.golden.node, {}):
                return [(f"a GPU: {target.qualname} moves its data to one", 0)]
        return []


def needs(view: TaskView, test: Reading) -> Iterator[tuple[str, int]]:
    """("a GPU: …", line) for each thing that the test itself needs."""
    source = "\n".join(module.text for module in test.modules)
    if "is_available" not in source:
        line = _cuda_line(test.module.tree, test.environment) or _cuda_default(test)
        if line:
            yield "a GPU", line
    else:
        line = _skipped(test.module.tree)
        if line:
            yield "a GPU: without one it is skipped, and skipped counts as passed", line
    if "mock" in source or "monkeypatch" in source:
        return
    for module, node, name in test.calls:
        if module is not test.module:
            continue
        model = _model(view, test, node, name)
        if model:
            yield f"a model: {model}", node.lineno
        elif _uses_network(name) and not _is_local(
            view, test.path_of(node.args[0] if node.args else None) or ""
        ):
            yield f"the network or a model: {name}", node.lineno


def _uses_network(name: str) -> bool:
    last = name.rpartition(".")[2]
    return name in _NETWORK or last in (
        "load_dataset",
        "hf_hub_download",
        "snapshot_download",
        "urlopen",
        "urlretrieve",
    )


def _model(view: TaskView, test: Reading, node: ast.Call, name: str) -> str:
    """The model that a call loads from a hub; "" for every other call."""
    last = name.rpartition(".")[2]
    named = [item.value for item in node.keywords if item.arg in _MODEL_KEYWORDS]
    first = [*node.args[:1], *named]
    if last == "from_pretrained":
        values = [test.path_of(item) for item in first]
        return next((shown(value) for value in values if value and not _is_local(view, value)), "")
    if last == "pipeline" and any(item.arg == "model" for item in node.keywords):
        value = test.path_of(named[0])
        return shown(value) if value and not _is_local(view, value) else ""
    if last in ("print", "info", "add_argument", "get", "join") or last.startswith(
        ("assert", "is_", "start")
    ):
        return ""
    for item in [*node.args, *(keyword.value for keyword in node.keywords)]:
        text = item.value if isinstance(item, ast.Constant) else None
        if isinstance(text, str) and _HUB.fullmatch(text) and not _is_local(view, f"{HOME}/{text}"):
            return text
    return ""


def shown(path: str) -> str:
    """A path as a message shows it."""
    return path.removeprefix(f"{HOME}/")


def _is_local(view: TaskView, path: str) -> bool:
    if path.startswith("?"):
        return True  # only its end is known: nothing is claimed
    relative = path.removeprefix(HOME).lstrip("/")
    if not relative or view.repository is None or path.startswith(("/", "..")):
        return bool(path.startswith("/"))
    try:
        return any(
            is_file(folder / relative) or is_folder(folder / relative)
            for folder in (view.repository, view.repository / "unit_test")
        )
    except (OSError, ValueError):
        return False


def _cuda_line(tree: ast.Module | FunctionNode, names: dict[str, ast.expr]) -> int:
    """The line at which something is moved to a GPU whatever the arguments are; 0 if nothing is.

    Args:
        names: names with the one value that each of them has.
    """
    for node in _unconditional(tree):
        if not isinstance(node, ast.Call):
            continue
        last = dotted(node.func).rpartition(".")[2]
        if last == "cuda":
            return node.lineno
        values = [*node.args, *(item.value for item in node.keywords if item.arg == "device")]
        moves = last in ("to", "device", "set_device") or any(item.arg == "device" for item in node.keywords)
        known = [names.get(value.id, value) if isinstance(value, ast.Name) else value for value in values]
        texts = [value.value for value in known if isinstance(value, ast.Constant)]
        if moves and any(isinstance(text, str) and _CUDA.match(text) for text in texts):
            return node.lineno
    return 0


def _unconditional(tree: ast.AST) -> Iterator[ast.AST]:
    """What runs whatever the arguments are: nothing below an `if`, but for `__name__ == "__main__"`."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        is_main = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
        if isinstance(node, ast.If | ast.IfExp) and not is_main:
            stack.append(node.test)
        else:
            stack.extend(reversed(list(ast.iter_child_nodes(node))))


def _skipped(tree: ast.Module) -> int:
    """The line at which tests are skipped where there is no GPU; 0 if none are."""
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and re.search(r"skip", dotted(node.func), re.IGNORECASE):
            asked = node.args
        elif isinstance(node, ast.If) and any("skip" in ast.unparse(item).lower() for item in node.body):
            asked = [node.test]
        if isinstance(node, ast.expr | ast.stmt) and any("cuda" in ast.unparse(item) for item in asked):
            return node.lineno
    return 0


def _cuda_default(test: Reading) -> int:
    """The line of a command-line option whose default is the GPU; 0 if there is none."""
    for _, node, name in test.calls:
        if name.rpartition(".")[2] == "add_argument":
            defaults = [item.value for item in node.keywords if item.arg == "default"]
            for value in defaults:
                if (
                    isinstance(value, ast.Constant)
                    and isinstance(value.value, str)
                    and _CUDA.match(value.value)
                ):
                    return node.lineno
    return 0

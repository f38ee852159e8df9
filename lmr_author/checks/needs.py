"""What a unit test needs beside the task: a GPU, the network, a model, a key."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.lookup import is_folder
from lmr_author.checks.needs_gpu import cuda_default, cuda_line, demanded, skipped
from lmr_author.checks.path_texts import HOME
from lmr_author.checks.reading import Reading
from lmr_author.checks.syntax import dotted
from lmr_author.checks.view import TaskView
from lmr_author.source import FunctionNode, Module, bound_by, each, imported_as, walk

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
        "sentence_transformers.SentenceTransformer",
        "SentenceTransformer",
        "clip.load",
        "stanza.download",
        "stanza.Pipeline",
        "evaluate.load",
        "ftplib.FTP",
    ]
)

_COMMAND = re.compile(r"\b(?:wget|curl|gdown|git clone|pip3? install|huggingface-cli|hf download)\b")
"""What a shell command is that needs the network."""

_KEY = re.compile(r"[A-Z][A-Z0-9_]*(?:API_KEY|_TOKEN|_SECRET)")
"""Environment variables that hold a key of a service."""

_WEIGHTS = re.compile(r"DEFAULT|IMAGENET\w*")
"""Pretrained weights as torchvision names them."""

_CORPORA = frozenset(
    {"word_tokenize", "sent_tokenize", "pos_tag", "stopwords", "wordnet", "WordNetLemmatizer", "ne_chunk"}
)
"""What of NLTK reads data that is downloaded apart."""

_HUB = re.compile(
    r"(?:(?:meta-llama|huggyllama|facebook|google|microsoft|openai|EleutherAI|mistralai|Qwen|bigscience|tiiuae|lmsys"
    r"|sentence-transformers|princeton-nlp|allenai|deepseek-ai|THUDM|stabilityai|HuggingFaceH4|HuggingFaceTB|NousResearch"
    r"|TinyLlama|codellama|huggingface|hf-internal-testing|google-bert|openai-community|FacebookAI|distilbert)/[\w.-]+"
    r"|(?:distil|sci)?(?:bert|roberta)-(?:tiny|base|large)[\w-]*|xlm-roberta-(?:base|large)|albert-(?:base|large)-v\d"
    r"|(?:distil)?gpt2(?:-medium|-large|-xl)?|t5-(?:small|base|large|3b|11b)|(?:flan-)t5-[\w]+)"
)
"""Names of models on a hub that tests commonly hand to the repository's own loaders."""


_MODEL_KEYWORDS = ("pretrained_model_name_or_path", "model", "model_name", "model_name_or_path")


def needs(view: TaskView, test: Reading) -> Iterator[tuple[str, int]]:
    """("a GPU: …", line) for each thing that the test itself needs."""
    source = "\n".join(module.text for module in test.modules)
    distributed = next((node.lineno for _, node, name in test.calls if _wants_nccl(node, name)), 0)
    if distributed:
        yield "a GPU", distributed
    elif "cuda" in source:
        yield from _of_cuda(test, asks="is_available" in source)
    if "mock" in source or "monkeypatch" in source:
        return
    modules = imported_as(test.module.tree)
    for module, node, called in test.calls:
        if module is not test.module:
            continue
        first, dot, rest = called.partition(".")
        name = modules.get(first, first) + dot + rest
        model = _model(view, test, node, name)
        if model:
            yield f"a model: {model}", node.lineno
        elif _uses_network(node, name, test) and not _is_local(
            view, test.path_of(node.args[0] if node.args else None) or ""
        ):
            yield f"the network or a model: {called}", node.lineno
    for item in each(test.module.tree, ast.Subscript):
        if dotted(item.value).endswith("environ"):
            key = item.slice.value if isinstance(item.slice, ast.Constant) else None
            if isinstance(item.ctx, ast.Load) and isinstance(key, str) and _KEY.fullmatch(key):
                yield f"the network or a model: {key}", item.lineno


def _of_cuda(test: Reading, *, asks: bool) -> Iterator[tuple[str, int]]:
    if not asks:
        line = cuda_line(test.module.tree, test.environment) or cuda_default(test)
        if line:
            yield "a GPU", line
        return
    line = demanded(test.module.tree)
    if line:
        yield "a GPU", line
    line = skipped(test.module.tree)
    if line:
        yield "a GPU: without one it is skipped, and skipped counts as passed", line


def _wants_nccl(node: ast.Call, name: str) -> bool:
    return name.endswith("init_process_group") and "nccl" in ast.unparse(node)


def _uses_network(node: ast.Call, name: str, test: Reading) -> bool:
    last = name.rpartition(".")[2]
    if name in _NETWORK or last in (
        "load_dataset",
        "hf_hub_download",
        "snapshot_download",
        "urlopen",
        "urlretrieve",
    ):
        return True
    if any(item.arg == "download" and _is_true(item.value) for item in node.keywords):
        return True
    return bool(_COMMAND.search(" ".join(_command(node, name, test))))


def _command(node: ast.Call, name: str, test: Reading) -> list[str]:
    """The texts of a shell command, also where it has a name; none for every other call."""
    if name != "os.system" and not name.startswith("subprocess."):
        return []
    names = [item.id for item in walk(node) if isinstance(item, ast.Name)]
    known = [test.environment[item] for item in names if item in test.environment]
    parts = [part for tree in (node, *known) for part in walk(tree)]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _model(view: TaskView, test: Reading, node: ast.Call, name: str) -> str:
    """The model that a call loads from a hub; "" for every other call."""
    last = name.rpartition(".")[2]
    named = [item.value for item in node.keywords if item.arg in _MODEL_KEYWORDS]
    first = [*node.args[:1], *named]
    if last == "from_pretrained":
        values = [test.path_of(item) for item in first]
        return next((shown(value) for value in values if value and not _is_local(view, value)), "")
    if any(item.arg == "pretrained" and _is_true(item.value) for item in node.keywords):
        return last
    weights = [ast.unparse(item.value).strip("'\"") for item in node.keywords if item.arg == "weights"]
    if weights and _WEIGHTS.fullmatch(weights[0].rpartition(".")[2]):
        return last
    if name == "transformers.pipeline" and not any(item.arg == "model" for item in node.keywords):
        return "the default of a pipeline"
    if last == "pipeline" and any(item.arg == "model" for item in node.keywords):
        value = test.path_of(named[0])
        return shown(value) if value and not _is_local(view, value) else ""
    if last in ("print", "info", "add_argument", "get", "join") or last.startswith(
        ("assert", "is_", "start")
    ):
        return ""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    texts: list[object] = [item.value for item in given if isinstance(item, ast.Constant)]
    texts += [word for text in _command(node, name, test) for word in text.split()]
    for text in texts:
        if isinstance(text, str) and _HUB.fullmatch(text) and not _is_local(view, f"{HOME}/{text}"):
            return text
    return ""


def shown(path: str) -> str:
    """A path as a message shows it."""
    return path.removeprefix(f"{HOME}/")


def _is_local(view: TaskView, path: str) -> bool:
    if path.startswith("?") or (view.is_empty and not path.startswith("/")):
        return True  # only its end is known, or what it may be is missing: nothing is claimed
    relative = path.removeprefix(HOME).lstrip("/")
    if not relative or view.repository is None or path.startswith(".."):
        return False
    if path.startswith("/"):
        return path.startswith(("/tmp/", "/workspace/", "/app/"))  # where images have the repository
    return any(
        view.is_file(folder / relative) or is_folder(folder / relative)
        for folder in (view.repository, view.repository / "unit_test")
    )


def corpus_call(module: Module, function: FunctionNode) -> str:
    """What of NLTK a function, or one of its module that it calls, uses that needs downloaded data; or ""."""
    imported = {
        name
        for node in each(module.tree, ast.ImportFrom)
        if (node.module or "").partition(".")[0] == "nltk"
        for name in bound_by(node)
    }
    known = {item.name: item.node for item in module.definitions if item.kind == "function"}
    waiting: list[ast.AST] = [function]
    seen: set[str] = set()
    while waiting:
        for node in walk(waiting.pop()):
            name = dotted(node.func) if isinstance(node, ast.Call) else ""
            first, last = name.partition(".")[0], name.rpartition(".")[2]
            if (last in _CORPORA or first in _CORPORA) and (first == "nltk" or first in imported):
                return name
            if last in known and last not in seen:
                seen.add(last)
                waiting.append(known[last])
    return ""


def installs_corpora(view: TaskView) -> bool:
    """Whether the Dockerfile, or the repository, brings data of NLTK along."""
    text = view.text(view.task.root / dockerfile.place(view)) or ""
    fetched = re.search(r"nltk[^\n]*(?:download|data)|NLTK_DATA|punkt", text)
    return bool(fetched) or any("nltk_data" in entry.relative for entry in view.repository_entries)

"""Models and data that code fetches: found by the names of well-known functions, with literal arguments.

An argument counts as literal when it is a string, a constant of the module, the default of a parameter, or the
default of an option of argparse.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lmr_author.environment.recipe import Download
from lmr_author.source import imported_as, is_main_guard, parameters
from lmr_author.texts import printable


@dataclass(frozen=True)
class _Call:
    """A function that fetches.

    Attributes:
        name: end of its dotted name.
        kind: of what it fetches.
        position, keyword: the argument that names it.
        module: first part of the module it must come from, where its name alone says little.
    """

    name: str
    kind: str
    position: int = 0
    keyword: str = ""
    module: str = ""


_CALLS = (
    _Call("from_pretrained", "model", 0, "pretrained_model_name_or_path"),
    _Call("SentenceTransformer", "model", 0, "model_name_or_path"),
    _Call("CrossEncoder", "model", 0, "model_name"),
    _Call("pipeline", "model", 9, "model", "transformers"),
    _Call("snapshot_download", "model", 0, "repo_id"),
    _Call("hf_hub_download", "model", 0, "repo_id"),
    _Call("cached_download", "model", 0, "url"),
    _Call("hub.load", "model", 1, "model", "torch"),
    _Call("load_state_dict_from_url", "file", 0, "url"),
    _Call("model_zoo.load_url", "file", 0, "url"),
    _Call("download_url_to_file", "file", 0, "url"),
    _Call("clip.load", "model", 0, "name"),
    _Call("whisper.load_model", "model", 0, "name"),
    _Call("tiktoken.get_encoding", "model", 0, "encoding_name"),
    _Call("tiktoken.encoding_for_model", "model", 0, "model_name"),
    _Call("load_dataset", "dataset", 0, "path", "datasets"),
    _Call("load_metric", "dataset", 0, "path", "datasets"),
    _Call("evaluate.load", "dataset", 0, "path"),
    _Call("ir_datasets.load", "dataset", 0),
    _Call("nltk.download", "nltk", 0, "info_or_id"),
    _Call("spacy.load", "spacy", 0, "name"),
    _Call("spacy.cli.download", "spacy", 0, "model"),
    _Call("stanza.download", "model", 0, "lang"),
    _Call("stanza.Pipeline", "model", 0, "lang"),
    _Call("gensim.downloader.load", "model", 0, "name"),
    _Call("gdown.download", "file", 0, "url"),
    _Call("wget.download", "file", 0, "url"),
    _Call("urlretrieve", "file", 0, "url"),
    _Call("urlopen", "file", 0, "url", "urllib"),
    _Call("requests.get", "file", 0, "url"),
    _Call("cached_path", "file", 0),
)
_BY_END = {
    end: [call for call in _CALLS if call.name.rpartition(".")[2] == end]
    for end in {call.name.rpartition(".")[2] for call in _CALLS}
}
_LOCAL_DATA = frozenset(
    [
        "json",
        "csv",
        "text",
        "parquet",
        "arrow",
        "pandas",
        "imagefolder",
        "audiofolder",
        "webdataset",
        "generator",
        "xml",
    ]
)
"""Formats of files that ``load_dataset`` reads, in place of a data set's name."""
_SHELL = re.compile(r"\b(?:wget|curl|gdown|gsutil cp|aws s3 cp)\b[^|;&]*?((?:https?|gs|s3)://[^\s\"']+)")
_NAME = re.compile(r"^(?![./~])[A-Za-z0-9][\w.+-]*(/[\w.+-]+)?$")


def downloads_in(tree: ast.Module, path: str) -> Iterator[Download]:
    """Downloads in a module's code, in the order of its lines."""
    seen: set[tuple[str, str, bool]] = set()
    aliases = imported_as(tree)
    for call, at_import, known in _calls(tree):
        for kind, what in _fetched(call, known, aliases):
            key = (kind, what, at_import)
            if key not in seen:
                seen.add(key)
                yield Download(kind, printable(what, 200), f"{path}:{call.lineno}", at_import)


def _calls(tree: ast.Module) -> list[tuple[ast.Call, bool, dict[str, str]]]:
    """Every call, whether importing the module makes it, and the strings that names stand for there."""
    found: list[tuple[ast.Call, bool, dict[str, str]]] = []
    stack: list[tuple[ast.AST, bool, dict[str, str]]] = [(tree, True, _constants(tree))]
    while stack:
        node, at_import, known = stack.pop()
        if isinstance(node, ast.Call):
            found.append((node, at_import, known))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            # Decorators and defaults are evaluated where the function is defined; its body when it is called.
            outside: list[ast.AST] = [*node.args.defaults, *(item for item in node.args.kw_defaults if item)]
            if not isinstance(node, ast.Lambda):
                outside += node.decorator_list
            stack.extend((child, at_import, known) for child in outside)
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            inner = {**known, **_defaults(node.args)}
            stack.extend((child, False, inner) for child in body)
            continue
        inside = is_main_guard(node)
        stack.extend((child, at_import and not inside, known) for child in ast.iter_child_nodes(node))
    return sorted(found, key=lambda item: (item[0].lineno, item[0].col_offset))


def _constants(tree: ast.Module) -> dict[str, str]:
    """Strings that a module's names stand for, and the defaults of its command line's options."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _dotted(node.func).endswith("add_argument"):
            default = next((keyword.value for keyword in node.keywords if keyword.arg == "default"), None)
            if _string(default) and node.args:
                for flag in map(_string, node.args):
                    if flag.startswith("--"):
                        known[f"args.{flag[2:].replace('-', '_')}"] = _string(default)
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and _string(statement.value):
            known |= {
                item.id: _string(statement.value) for item in statement.targets if isinstance(item, ast.Name)
            }
    return known


def _defaults(arguments: ast.arguments) -> dict[str, str]:
    """Parameters with a string as default; a parameter without one hides a constant of its name."""
    return {parameter.arg: _string(value) for parameter, value in parameters(arguments)}


def _fetched(
    call: ast.Call, known: Mapping[str, str], aliases: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    dotted = _dotted(call.func)
    head, dot, rest = dotted.partition(".")
    dotted = f"{aliases.get(head, head)}{dot}{rest}"
    entry = next(
        (one for one in _BY_END.get(dotted.rpartition(".")[2], ()) if f".{dotted}".endswith(f".{one.name}")),
        None,
    )
    if entry and (not entry.module or dotted.startswith(f"{entry.module}.")):
        what = _argument(call, entry, known)
        if entry.module == "datasets" and what in _LOCAL_DATA:
            return
        if entry.kind == "nltk" and not call.args and not call.keywords:
            what = "all"
        if what and (("://" in what) if entry.kind == "file" else (_NAME.match(what) or "://" in what)):
            yield entry.kind, what
    elif any(
        word.arg == "pretrained" and getattr(word.value, "value", None) is True for word in call.keywords
    ):
        yield "model", f"{dotted} with pretrained weights"
    elif dotted.startswith("torchvision.datasets.") and any(
        word.arg == "download" and getattr(word.value, "value", None) is True for word in call.keywords
    ):
        yield "dataset", dotted
    elif re.search(r"(^|\.)(system|run|call|check_call|check_output|Popen)$", dotted) and call.args:
        yield from (("file", address) for address in _SHELL.findall(_command(call.args[0])))


def _command(node: ast.expr) -> str:
    if isinstance(node, ast.List):
        return " ".join(filter(None, map(_string, node.elts)))
    return _string(node)


def _argument(call: ast.Call, entry: _Call, known: Mapping[str, str]) -> str:
    node = next((keyword.value for keyword in call.keywords if keyword.arg == entry.keyword), None)
    if node is None and len(call.args) > entry.position:
        node = call.args[entry.position]
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute):
        return known.get(f"args.{node.attr}", "")
    return _string(node)


def _dotted(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _string(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

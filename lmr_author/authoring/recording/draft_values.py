"""Values for the parameters of a function, as far as its file shows them: for the driver that is drafted.

In this order: annotations, uses in the body as a text, list or config, shapes that docstring or body show, and names as
in ``draft_driver.toml``.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from lmr_author.authoring.masking.docstrings import DocumentedParameter, read_docstring
from lmr_author.authoring.masking.draft import shapes_of
from lmr_author.core import code

UNKNOWN = "..."
LABELS = re.compile("label|target|gold|tgt|tags|y_true")
_SHAPE = re.compile(r"[\[(]\s*([\w.*]+(?:\s*,\s*[\w.*]+)*)\s*,?\s*[\])]|(\w+(?:\s+[x×*]\s+\w+)+)")
"""``(B, T, C)``, ``[bsz, ...]`` or ``B x T x C`` in a text."""


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("draft_driver.toml").read_text("utf-8"))


def _named(table: str, name: str) -> str:
    """Return the entry of the table for a name; "" for none."""
    name = name.lower().strip("_")
    found = (value for pattern, value in _table()[table].items() if re.fullmatch(pattern, name))
    return str(next(found, ""))


def _text(kind: str, *kinds: str, otherwise: str) -> str:
    """Return the text or list of a kind, if it is one of those that will do."""
    return str(_table()["texts"][kind if kind in kinds else otherwise])


def sizes(text: str) -> dict[str, int]:
    """Return the sizes that a script names."""
    return {name: size for name, size in _table()["sizes"].items() if re.search(rf"\b{name}\b", text)}


@dataclass
class Uses:
    """The uses of one name, as ``x`` or ``self.beta``, in a body.

    Attributes:
        attributes: those that are read of it.
        rank: dimensions that it must have.
        given_to: functions that it is passed to; "" for an operator.
    """

    attributes: set[str] = field(default_factory=set)
    rank: int = 0
    given_to: set[str] = field(default_factory=set)
    called: bool = False
    inverted: bool = False

    def have(self, kind: str) -> bool:
        """Tell whether an attribute or method is read that a kind of value has: ``text``, ``list`` or ``array``."""
        return not self.attributes.isdisjoint(_table()["attributes"][kind].split())


def read_uses(tree: ast.AST) -> Mapping[str, Uses]:
    """Return the uses of every name and attribute in a function or file."""
    found: dict[str, Uses] = defaultdict(Uses)

    def of(node: ast.AST) -> Uses:
        return found[ast.unparse(node)] if isinstance(node, ast.Name | ast.Attribute) else Uses()

    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            of(node.value).attributes.add(node.attr)
            of(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            parts = [item for item in node.slice.elts if ast.unparse(item) != "None"]
            of(node.value).rank = max(of(node.value).rank, len(parts))
        elif isinstance(node, ast.Call):
            of(node.func).called = True
            for value in (*node.args, *(word.value for word in node.keywords)):
                of(value).given_to.add(ast.unparse(node.func))
        elif isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                of(side).given_to.add("")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            of(node.operand).inverted = True
    return found


class DraftValues:
    """Finds values for the parameters of one function, for attributes of a config, and for globals.

    Args:
        defaults: option of the command line → its default, as the repository has it.
        torch: the repository uses PyTorch.
    """

    def __init__(
        self, module: code.Module, function: code.FunctionNode, defaults: Mapping[str, Any], torch: bool
    ) -> None:
        self.torch, self.defaults = torch, defaults
        self.library = "torch" if "torch" in module.text else "numpy" if "numpy" in module.text else ""
        self.uses, self.everywhere = read_uses(function), read_uses(module.tree)
        self.shapes = shapes_of(function)
        names = [parameter.arg for parameter, _ in code.parameters(function.args)]
        self.docs = read_docstring(ast.get_docstring(function), (), names).parameters
        self.attends = bool({"k", "key", "keys"} & {*names}) or "attn" in " ".join(names)
        # Labels fit the scores that they are compared with.
        labelled = any(LABELS.search(name) for name in names)
        scores = [name for name in names if _named("arrays", name) == "normal batch vocab"]
        scores += [
            name
            for name in names
            if labelled and re.fullmatch(r"y_?(hat|pred)|x|out\w*|in(put)?|pred\w*", name)
        ]
        self.scores = scores[0] if scores else ""
        flattened = re.search(rf"\b{self.scores}\.(contiguous\(\)\.)?(view|reshape|flatten)\(", module.text)
        middle = ["length"] if flattened or self.shapes.get(self.scores, "").count(",") == 2 else []
        self.logits = _fitted(
            ["batch", *middle, "vocab" if "logit" in self.scores else "classes"], self.uses[self.scores].rank
        )

    def of(self, key: str, annotation: str = "") -> str:
        """Return a value as Python text, UNKNOWN where nothing is known. ``key``: as in ``config.beta``."""
        name, uses = key.rpartition(".")[2], self.uses[key]
        doc = self.docs.get(name, DocumentedParameter())
        annotation = annotation or doc.type
        return (
            self._annotated(name, annotation)
            or self._used(key, uses)
            or self._shaped(name, uses, f"{doc.type} {doc.text}", annotation)
            or self._by_name(name, uses, annotation)
            or (repr(self.defaults[name]) if name in self.defaults else UNKNOWN)
        )

    def number(self, name: str, annotation: str = "") -> str:
        """Return a number for an option or a size; "" for none."""
        known, default = _named("numbers", name), self.defaults.get(name)
        # Sizes have to fit one another; of other numbers the repository knows the better ones.
        if isinstance(default, int | float) and default and not re.match("[a-z]|2 ", known):
            return repr(default)
        return known or {"int": "2", "float": "0.5"}.get(annotation, "")

    def _annotated(self, name: str, annotation: str) -> str:
        plain = re.sub(r"(typing\.|Optional\[(.*)\]$)", r"\2", annotation)
        plain = re.sub(r" \| None| or None|, *(optional|default).*", "", plain).strip()  # numpydoc's, too
        if literal := re.search(r"Literal\[('[^']*'|\d+)", plain):
            return literal[1]
        if plain in ("int", "float"):
            return self.number(name, plain)
        if plain in ("str", "string"):
            return _text(_named("plain", name), "word", otherwise="text")
        if plain in ("bool", "boolean"):
            return "True"
        inner = re.fullmatch(r"(?:[Ll]ist|Sequence|Iterable|[Tt]uple)\[(.*?)(?:, \.\.\.)?\]", plain)
        if inner is None:
            return ""
        if inner[1] == "str":
            return _text(_named("plain", name), "words", "tags", otherwise="texts")
        if inner[1] in ("int", "float"):
            return "[3, 1, 2]" if inner[1] == "int" else _text("numbers", otherwise="numbers")
        one = self._annotated(name, inner[1])
        return f"[{one}, {one}]" if one else ""

    def _used(self, key: str, uses: Uses) -> str:
        """Return a text, list or namespace where the body uses it as one."""
        name = key.rpartition(".")[2]
        kind = _named("plain", name)
        if uses.have("array") or uses.rank:
            return ""
        if uses.have("text"):
            return _text("text", otherwise="text")
        counted = uses.given_to & {"len", "sorted", "zip", "enumerate", "set", "Counter"}
        if uses.have("list") or (not self.library and counted):
            return _text(kind, "words", "tags", "texts", "text", "numbers", otherwise="words")
        if not uses.attributes or uses.called or _named("things", name) or name.endswith("tokenizer"):
            return ""
        # A constructor hands its config on: what others of the file read of it belongs to it as well.
        seen = self.everywhere[name].attributes | self.everywhere[f"self.{name}"].attributes
        fields = [item for item in sorted(seen) if not self.everywhere[f"{name}.{item}"].called]
        known = {item: self.number(item) or self.of(f"{key}.{item}") for item in fields}
        parts = [f"{item}={None if value == UNKNOWN else value}" for item, value in known.items()]
        return f"types.SimpleNamespace({', '.join(parts)})" if parts else ""

    def _shaped(self, name: str, uses: Uses, doc: str, annotation: str) -> str:
        """Return an array of the shape that docstring or body show."""
        if not self.library or uses.called:
            return ""
        shape = self.shapes.get(name, "")
        if not shape and (found := re.search(r"(?i)shape|size|tensor|dim|array|\bof\b", doc)):
            match = _SHAPE.search(doc, found.start())
            shape = (match[1] or match[2]) if match else ""
        words = [word for word in re.split(r"\s*,\s*|\s+[x×*]\s+", shape.strip("() ,")) if word]
        dims = [word if word.isdigit() else _named("dimensions", word) or "dim" for word in words]
        kind = (_named("arrays", name) or "normal").partition(" ")[0]
        return self._array(kind, dims, name, uses, annotation) if dims else ""

    def _by_name(self, name: str, uses: Uses, annotation: str) -> str:
        scalar = not (uses.attributes or uses.rank or uses.called or re.search("Tensor|array", annotation))
        number = self.number(name) if scalar else ""
        thing, plain = _named("things", name), _named("plain", name)
        if re.match("[a-z]|2 ", number):
            return number
        if thing and (self.torch or "torch" not in thing) and not number:
            return thing
        if not self.library or re.match("list|sequence", annotation.lower()):
            counts = number and uses.given_to & {"range", "int", "", "random.randint"}
            return number if counts or not plain else _text(plain, plain, otherwise="text")
        kind, _, dims = _named("arrays", name).partition(" ")
        if number and (not kind or "range" in uses.given_to):
            return number
        if not kind and not (uses.have("array") or uses.rank or {"", "len"} & uses.given_to):
            return _text(plain, plain, otherwise="text") if plain else ""
        kind, shape = kind or "normal", _fitted(dims.split() or ["batch", "dim"], uses.rank)
        if LABELS.search(name) and self.scores:
            shape = self.logits[:-1]
            if "" in uses.given_to and "gather" not in str(uses.given_to):
                kind, shape = "several", self.logits  # computed with like the scores, not looked up in them
        elif kind == "normal" and (name == self.scores or shape[-1] == "vocab"):
            shape = self.logits
        return self._array(kind, shape, name, uses, annotation)

    def _array(self, kind: str, dims: list[str], name: str, uses: Uses, annotation: str) -> str:
        if kind == "normal" and "Long" in annotation:
            kind = "index"
        if kind == "mask" and self.attends and self.library == "torch":
            dims, kind = (
                (["batch"] if "unsqueeze" in uses.attributes else []) + ["length", "length"],
                "attention",
            )
        text = str(_table()[self.library][kind]).format(
            dims=", ".join(dims),
            shape=", ".join(dims) + "," * (len(dims) == 1),
            outer=", ".join([*dims[:-1], ""]),
            last=dims[-1],
            high=self.logits[-1] if LABELS.search(name) else "vocab",
        )
        hints = f"{uses.given_to}{annotation}"
        boolean = uses.inverted or re.search(r"\.(masked_|logical_|where)|Byte|Bool", hints)
        return f"({text}).long()" if kind == "mask" and self.library == "torch" and not boolean else text


def _fitted(dims: list[str], rank: int) -> list[str]:
    """Return dimensions of at least the rank that the body needs."""
    more = {1: "dim", 2: "length", 3: "heads"}
    while len(dims) < min(rank, 4):
        dims = [*dims[:1], more[len(dims)], *dims[1:]]
    return dims

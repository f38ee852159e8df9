"""Values for the parameters of a function, as far as its repository shows them: for the driver that is drafted.

In this order: annotations, uses in the body as a text or container, shapes that docstring or body show, and names as in
``draft_driver.toml``, then defaults of the repository's own configs.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from lmr_author import code
from lmr_author.masking.draft import DocumentedParameter, read_docstring, shapes_of

UNKNOWN = "..."
TEXTS = {
    "word": '"river"',
    "text": '"The quick brown fox jumps over the lazy dog ."',
    "texts": '["The quick brown fox jumps .", "A slow dog sleeps .", "Rivers run to the sea ."]',
    "words": '"the quick brown fox jumps over the lazy dog".split()',
    "tags": '["B-PER", "I-PER", "O", "B-LOC", "O"]',
    "numbers": "[0.5, 2.0, -1.0, 3.5]",
}
"""Values of code without arrays, by their kind in the table."""
LABELS = re.compile("label|target|gold|tgt|tags|y_true")
# Attributes and methods that tell a text, list, dictionary or array.
_OF_TEXT = set(
    re.findall(r"\w+", "split lower upper strip lstrip rstrip startswith endswith replace join splitlines")
)
_OF_LIST = {"append", "extend", "insert", "index", "count", "sort"}
_OF_DICT = {"items", "keys", "get", "update", "setdefault"}
_ARRAY = """
    shape size view unsqueeze squeeze device dim ndim dtype float long bool half masked_fill masked_fill_ contiguous
    detach mean sum max min transpose permute reshape t T exp log softmax log_softmax expand repeat gather argmax topk
    chunk pow abs to cuda cpu is_cuda new_zeros clone eq ne std norm matmul mm bmm flatten numel type_as masked_select
    scatter_ fill_ add_ mul_ data grad astype requires_grad cumsum new_tensor type
    expand_as view_as resize_ new zero_ sort_ item
"""
_OF_ARRAY = set(_ARRAY.split())
_SHAPE = re.compile(r"[\[(]\s*([\w.*]+(?:\s*,\s*[\w.*]+)*)\s*,?\s*[\])]|(\w+(?:\s+[x×*]\s+\w+)+)")
"""``(B, T, C)``, ``[bsz, ...]`` or ``B x T x C`` in a text."""


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("draft_driver.toml").read_text("utf-8"))


def _named(table: str, name: str) -> str:
    """Return the entry of the table for a name; "" for none."""
    found = (
        value for pattern, value in _table()[table].items() if re.fullmatch(pattern, name.lower().strip("_"))
    )
    return str(next(found, ""))


_RANK = re.compile(r"(\w+)\.(?:dim\(\)|ndim) == (\d)|len\((\w+)\.shape\) == (\d)")


def sizes(text: str) -> dict[str, int]:
    """Return the sizes that a script names."""
    return {name: size for name, size in _table()["sizes"].items() if re.search(rf"\b{name}\b", text)}


@dataclass
class Uses:
    """The uses of one name, as ``x`` or ``self.beta``, in a body.

    Attributes:
        attributes: those that are read of it.
        keys: texts that it is indexed with.
        rank: dimensions that it must have; ``exact``: and no more.
        given_to: functions that it is passed to; "" for an operator.
        item: the name of its items in a loop.
    """

    attributes: set[str] = field(default_factory=set)
    keys: list[str] = field(default_factory=list)
    rank: int = 0
    exact: bool = False
    given_to: set[str] = field(default_factory=set)
    item: str = ""
    called: bool = False
    inverted: bool = False


def read_uses(function: ast.AST) -> dict[str, Uses]:
    """Return the uses of every name and attribute in a function."""
    found: dict[str, Uses] = {}

    def of(node: ast.AST) -> Uses:
        dotted = isinstance(node, ast.Name | ast.Attribute)
        return found.setdefault(ast.unparse(node), Uses()) if dotted else Uses()

    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            of(node.value).attributes.add(node.attr)
            of(node)
        elif isinstance(node, ast.Subscript):
            _read_index(node, of)
        elif isinstance(node, ast.Call):
            _read_call(node, of)
        elif isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                of(side).given_to.add("")
        elif isinstance(node, ast.Assert) and (measured := _RANK.search(ast.unparse(node.test))):
            uses = found.setdefault(measured[1] or measured[3], Uses())
            uses.rank, uses.exact = int(measured[2] or measured[4]), True
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            of(node.operand).inverted = True
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            of(node.iter).item = node.target.id
    return found


def _read_call(call: ast.Call, of: Callable[[ast.AST], Uses]) -> None:
    """Note what is called, what it is given, and the dimensions that are named."""
    of(call.func).called = True
    name = ast.unparse(call.func)
    owner, _, last = name.rpartition(".")
    for argument in (*call.args, *(word.value for word in call.keywords)):
        of(argument).given_to.add(name)
    of_library = owner in ("", "torch", "np", "numpy", "F", "nn.functional", "torch.nn.functional")
    if of_library and not call.args:
        return
    subject = of(call.args[0] if of_library else call.func.value)  # type: ignore[attr-defined]
    if last == "permute":
        subject.rank, subject.exact = len(call.args), True
    positions = call.args if last in ("transpose", "size", "unbind", "swapaxes") else []
    positions = [*positions, *(word.value for word in call.keywords if word.arg in ("dim", "axis"))]
    numbers = [item.value for item in positions if isinstance(item, ast.Constant)]
    subject.rank = max([subject.rank, *(number + 1 for number in numbers if isinstance(number, int))])


def _read_index(node: ast.Subscript, of: Callable[[ast.AST], Uses]) -> None:
    index = node.slice
    if isinstance(index, ast.Constant) and isinstance(index.value, str):
        keys = of(node.value).keys
        keys += [index.value] if index.value not in keys else []
    elif isinstance(index, ast.Tuple):
        parts = [item for item in index.elts if ast.unparse(item) != "None"]
        of(node.value).rank = max(of(node.value).rank, len(parts))
    shape, number = node.value, getattr(index, "value", None)
    if isinstance(shape, ast.Attribute) and shape.attr == "shape" and isinstance(number, int):
        of(shape.value).rank = max(of(shape.value).rank, number + 1)


class Values:
    """Finds values for the parameters and attributes of one function.

    Args:
        settings: name → plain value, as the repository's configs have it.
        torch: the repository uses PyTorch.
    """

    def __init__(
        self,
        module: code.Module,
        function: code.FunctionNode,
        settings: Mapping[str, Any],
        torch: bool,
    ) -> None:
        self.torch = torch
        self.library = "torch" if "torch" in module.text else "numpy" if "numpy" in module.text else ""
        self.uses, self.everywhere = read_uses(function), read_uses(module.tree)
        self.settings = settings
        self.shapes = shapes_of(function)
        names = [item.arg for item, _ in code.parameters(function.args)]
        docstring = ast.get_docstring(function, clean=False) or ""
        lines = module.text.splitlines()[function.lineno - 1 : function.end_lineno]
        said = docstring + "\n" + "\n".join(line.strip()[1:] for line in lines if line.strip()[:1] == "#")
        self.docs = read_docstring(docstring, (), names).parameters
        for name in names:
            if name not in self.docs and (found := re.search(rf"(?m)^\s*{name}\s*:(.*)$", said)):
                self.docs[name] = DocumentedParameter("", f"shape {found[1]}")
        entries = {name: _named("arrays", name) for name in names}
        self.attends = bool({"k", "key", "keys"} & {*names}) or "attn" in " ".join(names)
        # Queries, keys and values have the same rank, so what the body says of one holds for all.
        for name, entry in entries.items():
            alike = [
                self.uses[other]
                for other in names
                if "normal" in entry and entries[other] == entry and other in self.uses
            ]
            known = max(alike, key=lambda uses: (uses.exact, uses.rank), default=Uses())
            if name in self.uses and known.rank > self.uses[name].rank:
                self.uses[name].rank, self.uses[name].exact = known.rank, known.exact
        labelled = any(LABELS.search(name) for name in names)
        candidates = [name for name, entry in entries.items() if entry == "normal batch vocab"]
        candidates += [
            name
            for name in names
            if labelled and re.fullmatch(r"y_?(hat|pred)|x|out\w*|in(put)?|pred\w*", name)
        ]
        self.scores = next(iter(candidates), "")
        flat = self.shapes.get(self.scores, "").count(",") == 2 or re.search(
            rf"\b{self.scores}\.(contiguous\(\)\.)?(view|reshape|flatten)\(", module.text
        )
        last = "vocab" if "logit" in self.scores else "classes"
        self.logits = _fitted(
            ["batch", "length", last] if flat else ["batch", last], self.uses.get(self.scores, Uses())
        )

    def of(self, key: str, annotation: str = "") -> str:
        """Return a value as Python text, UNKNOWN where nothing is known. ``key``: as in ``self.beta``."""
        name, uses = key.rpartition(".")[2], self.uses.get(key, Uses())
        doc = self.docs.get(name, DocumentedParameter())
        annotation = annotation or doc.type
        return (
            self._annotated(name, annotation)
            or self._structured(key, uses)
            or self._shaped(name, uses, f"{doc.type} {doc.text}", annotation)
            or self._by_name(key, uses, annotation)
            or self._setting(name)
            or UNKNOWN
        )

    def number(self, name: str, annotation: str = "") -> str:
        """Return a number for an option or a size; "" for none."""
        setting, known = self.settings.get(name), _named("numbers", name)
        # Sizes have to fit one another; of other numbers the repository knows the better ones.
        if isinstance(setting, int | float) and setting and not re.match("[a-z]|2 ", known):
            return repr(setting)
        return known or {"int": "2", "float": "0.5"}.get(annotation, "")

    def _annotated(self, name: str, annotation: str) -> str:
        plain = re.sub(r"(typing\.|Optional\[(.*)\]$)", r"\2", annotation).replace(" | None", "").strip()
        if literal := re.search(r"Literal\[('[^']*'|\d+)", plain):
            return literal[1]
        if plain in ("int", "float"):
            return self.number(name, plain)
        if plain in ("str", "string"):
            return TEXTS[_named("plain", name) if _named("plain", name) in ("text", "word") else "text"]
        if plain in ("bool", "boolean"):
            return "True"
        inner = re.fullmatch(r"(?:[Ll]ist|Sequence|Iterable|[Tt]uple)\[(.*)\]", plain)
        if inner:
            texts = _named("plain", name)
            kinds = {
                "str": TEXTS[texts if texts in ("texts", "words", "tags") else "texts"],
                "int": "[3, 1, 2]",
                "float": TEXTS["numbers"],
            }
            nested = kinds.get(inner[1].removesuffix(", ..."))
            if nested:
                return nested
            one = self._annotated(name, inner[1])
            return f"[{one}, {one}]" if one else ""
        if plain.startswith(("Callable", "callable")) and not _named("things", name):
            return "lambda *values: values[0]"
        return ""

    def _structured(self, key: str, uses: Uses) -> str:
        """Return a text, list, dictionary or namespace where the body uses it as one."""
        name, seen = key.rpartition(".")[2], uses.attributes
        if seen & {"padding_idx", "num_embeddings", "embedding_dim"} and self.torch:
            return "torch.nn.Embedding(vocab, dim)"
        if seen & _OF_ARRAY or uses.rank:
            return ""
        if seen & _OF_TEXT:
            return TEXTS["text"]
        if uses.keys:
            return "{" + ", ".join(f'"{item}": {self.of(item)}' for item in uses.keys) + "}"
        if seen & _OF_DICT:
            return '{"first": 1.0, "second": 2.0, "third": -0.5}'
        if uses.item and self.uses.get(uses.item, Uses()).attributes & _OF_TEXT:
            kind = _named("plain", name)
            return TEXTS[kind if kind in ("words", "tags") else "texts"]
        items = self.of(uses.item) if uses.item and self.uses.get(uses.item, Uses()).keys else UNKNOWN
        if items != UNKNOWN:
            return f"[{items.replace('(batch, ', '(')} for _ in range(batch)]"
        if seen & _OF_LIST or (
            not self.library and uses.given_to & {"len", "sorted", "zip", "enumerate", "set", "Counter"}
        ):
            kind = _named("plain", name)
            return TEXTS[kind if kind in ("words", "tags", "texts", "text", "numbers") else "words"]
        if seen and not uses.called and not _named("things", name) and not name.endswith("tokenizer"):
            # A constructor hands its config on: what others of the file read of it belongs to it as well.
            seen = {
                item for one in (name, f"self.{name}") for item in self.everywhere.get(one, uses).attributes
            }
            seen = {item for item in seen if not self.everywhere.get(f"{name}.{item}", uses).called}
            if not seen:
                return ""
            known = {item: self.number(item) or self.of(f"{key}.{item}") for item in sorted(seen)}
            parts = [f"{item}={None if value == UNKNOWN else value}" for item, value in known.items()]
            return f"types.SimpleNamespace({', '.join(parts)})"
        return ""

    def _shaped(self, name: str, uses: Uses, doc: str, annotation: str) -> str:
        """Return an array of the shape that docstring or body show."""
        if not self.library or uses.called:
            return ""
        shape = self.shapes.get(name, "")
        if not shape and (found := re.search(r"(?i)shape|size|tensor|dim|array|\bof\b", doc)):
            match = _SHAPE.search(doc, found.start())
            shape = (match[1] or match[2]) if match else ""
        words = [word for word in re.split(r"\s*,\s*|\s+[x×*]\s+", shape.strip("() ,")) if word]
        if not words:
            return ""
        known = (word if word.isdigit() else _named("dimensions", word) for word in words)
        dims = [dim or "dim" for dim in known]
        kind = (_named("arrays", name) or "normal").partition(" ")[0]
        return self._array(kind, dims, name, uses, annotation, documented=True)

    def _by_name(self, key: str, uses: Uses, annotation: str) -> str:
        name = key.rpartition(".")[2]
        scalar = not (uses.attributes or uses.rank or uses.called or re.search("Tensor|array", annotation))
        if scalar and re.match("[a-z]|2 ", size := _named("numbers", name)):
            return size
        thing = _named("things", name)
        if thing and (self.torch or "torch" not in thing) and not (scalar and _named("numbers", name)):
            return thing
        if not self.library or re.match("list|sequence", annotation.lower()):
            if (
                scalar
                and (uses.given_to & {"range", "int", "", "random.randint"})
                and (number := self.number(name))
            ):
                return number
            kind = _named("plain", name)
            return TEXTS.get(kind, "") or (self.number(name) if scalar else "")
        kind, _, dims = _named("arrays", name).partition(" ")
        if scalar and (number := self.number(name)) and (not kind or uses.given_to & {"range"}):
            return number
        if not kind and not (uses.attributes & _OF_ARRAY or uses.rank or {"", "len"} & uses.given_to):
            return TEXTS.get(_named("plain", name), "")
        return self._array(kind or "normal", dims.split() or ["batch", "dim"], name, uses, annotation)

    def _array(
        self, kind: str, dims: list[str], name: str, uses: Uses, annotation: str, documented: bool = False
    ) -> str:
        dims = dims if documented else _fitted(dims, uses)
        if kind == "normal" and "Long" in annotation:
            kind = "index"
        if kind == "mask" and self.attends and self.library == "torch":
            return f"torch.ones({'batch, ' if 'unsqueeze' in uses.attributes else ''}length, length).tril()"
        high = "vocab"
        if LABELS.search(name):
            high = self.logits[-1]
            if documented:
                pass
            elif self.scores and "" in uses.given_to and "gather" not in str(uses.given_to):
                kind, dims = "several", self.logits  # computed with like the scores, not looked up in them
            elif self.scores:
                dims = self.logits[:-1]
        elif not documented and kind == "normal" and (name == self.scores or dims[-1] == "vocab"):
            dims = self.logits
        shape = ", ".join(dims) + ("," if len(dims) == 1 else "")
        flat = ", ".join(dims)
        hints = f"{uses.given_to}{annotation}"
        boolean = uses.inverted or re.search(r"\.(masked_|logical_|where)|Byte|Bool", hints)
        if self.library == "torch":
            mask = {
                "batch, length": "torch.arange(length) < torch.randint(1, length + 1, (batch, 1))",
                "length, batch": "torch.arange(length)[:, None] < torch.randint(1, length + 1, (batch,))",
            }.get(flat, f"torch.rand({flat}) < 0.7")
            return {
                "normal": f"torch.randn({flat})",
                "logprob": f"-5 * torch.rand({flat})",
                "softmax": f"torch.randn({flat}).softmax(-1)",
                "index": f"torch.randint({high}, ({shape}))",
                "lengths": f"torch.randint(1, length + 1, ({shape}))",
                "several": f"(torch.rand({flat}) < 0.3).float()",
                "mask": mask if boolean else f"({mask}).long()",
            }[kind]
        return {
            "normal": f"rng.normal(size=({shape}))",
            "logprob": f"-5 * rng.random(({shape}))",
            "softmax": f"rng.dirichlet(numpy.ones({dims[-1]}), size=({', '.join([*dims[:-1], ''])}))",
            "index": f"rng.integers({high}, size=({shape}))",
            "lengths": f"rng.integers(1, length + 1, size=({shape}))",
            "several": f"(rng.random(({shape})) < 0.3).astype(float)",
            "mask": f"rng.random(({shape})) < 0.7",
        }[kind]

    def _setting(self, name: str) -> str:
        return repr(self.settings[name]) if name in self.settings else ""


def _fitted(dims: list[str], uses: Uses) -> list[str]:
    """Return dimensions of the rank that the body needs."""
    rank = uses.rank if uses.exact else max(uses.rank, len(dims)) if uses.rank else len(dims)
    for number, more in ((2, "length"), (3, "length"), (4, "heads")):
        if len(dims) < rank and number <= rank and len(dims) == number - 1:
            dims = [*dims[:1], more, *dims[1:]] if len(dims) > 1 else [*dims, "dim"]
    return dims if len(dims) <= rank else [dims[0], *dims[len(dims) - rank + 1 :]]

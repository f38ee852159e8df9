"""What a call looks like: a description of its parts for people, and its traits, by which calls are told apart."""

from __future__ import annotations

import operator
import re
from bisect import bisect
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from .comparison import describe
from .document import Buffer, by_id, parts, tagged

MOST_DESCRIBED, DEEPEST, LONG_TEXT = 40, 3, 40
"""Parts of a call that are described, how deep they lie, and the length of a text that is no option."""
MOST_LISTED = 1000
"""Numbers or texts of a list that are looked at, at most."""

_LIMITS = {0: "zero", 1: "one", float("inf"): "infinite", float("-inf"): "infinite"}
"""Numbers that functions treat in a way of their own."""
_AMOUNTS = ("none", "one", "several")
_ORDERS = (
    ("equal", operator.eq),
    ("ascending", operator.le),
    ("descending", operator.ge),
    ("mixed", lambda number, following: True),
)
"""How a list is sorted → what holds for each two neighbours; the first that fits."""
_SPELLINGS = (
    ("case", lambda text: text != text.lower(), "with capitals", "without capitals"),
    (
        "blanks",
        lambda text: "  " in text or text != text.strip(),
        "with blanks in a row or at an end",
        "with single blanks",
    ),
    ("letters", lambda text: not text.isascii(), "with letters outside ASCII", "of ASCII alone"),
)
"""Kind of a trait, what a text has, and the trait's value where one of the texts has it, and where none has."""


class Trait(NamedTuple):
    """A fact about a call. Two calls with different values of one kind at one path are different calls.

    Attributes:
        path: the part, as in code: ``self.config.beta``; "" for the call as a whole.
        kind: ``type``, ``value``, ``range``, ``size``, ``order``, ``content``, ``grad``, ``outcome``, ``random``, or
            ``flags``, which is how all flags of the call, and the dimensions of its arguments, stand together.
    """

    path: str
    kind: str
    value: str


class Description(NamedTuple):
    """The parts of a call: path → its shape and type, or its value, in words; and their traits."""

    texts: Dict[str, str]
    traits: List[Trait]


def describe_call(arguments: Dict[str, Any], names: Set[str], buffers: Dict[str, Buffer]) -> Description:
    """Describe arguments, and the attributes of objects that the target names.

    Two layers are not alike where one is merged. Items of dictionaries have traits only where the target names their
    keys: others are data, and each call has data of its own.

    Args:
        names: attributes and texts in the target's code.
        buffers: numbers of the large arrays.
    """
    ids = by_id(arguments)
    texts: Dict[str, str] = {}
    traits: List[Trait] = []
    flags: List[str] = []
    options = [_Part(name, node, 0, True) for name, node in reversed(list(arguments.items()))]
    # Data is described after all else, or a vocabulary would leave no room for the arguments.
    data: List[_Part] = []
    for waiting in (options, data):
        while waiting:
            path, node, depth, is_option = waiting.pop()
            if isinstance(node, dict) and node.get("$") == "ref":
                node = ids[node["id"]]
            text = _in_words(node)
            if (depth and len(texts) >= MOST_DESCRIBED) or _is_mode_of_whole(path, text, texts):
                continue
            texts[path] = text
            if is_option:
                traits.extend(Trait(path, kind, value) for kind, value in _traits(node, buffers))
            if depth == 0:
                traits.extend(Trait(path, kind, value) for kind, value in (*_order(node), *_spelling(node)))
            if is_option and "[0]" not in path:  # items of a list are data
                flags.append(path + _standing(node, depth))
            for step, part, named in reversed(list(_named(node, names)) if depth < DEEPEST else []):
                below = _Part(path + step, part, depth + 1, is_option and named)
                (options if below.is_option else data).append(below)
    return Description(texts, [*traits, Trait("", "flags", ", ".join(sorted(flags)))])


class _Part(NamedTuple):
    """A part of a call that waits to be described. ``is_option``: the target names it, and all above it."""

    path: str
    node: Any
    depth: int
    is_option: bool


def _is_mode_of_whole(path: str, text: str, texts: Dict[str, str]) -> bool:
    """Tell whether a part is in training mode, or not, as the whole is: only another mode is told."""
    part, _, name = path.rpartition(".")
    return name == "training" and texts.get(part.rpartition(".")[0] + ".training") == text


def _standing(node: Any, depth: int) -> str:
    """Return how a part stands in the combination of flags: its truth, or the dimensions of an argument."""
    if node is None or isinstance(node, bool):
        return "=%r" % node
    shape = node.get("shape") if depth == 0 and isinstance(node, dict) else None
    return "" if shape is None else "[%d]" % len(shape)


def _named(node: Any, names: Set[str]) -> Iterator[Tuple[str, Any, bool]]:
    """Yield the parts of a node by which calls differ: named attributes, items of dictionaries, one of a list.

    The last of each three says whether the target names it.
    """
    node = tagged(node)
    tag = node["$"] if isinstance(node, dict) else ""
    if tag in ("list", "tuple"):
        yield from (("[0]", part, True) for part in node["v"][:1] if isinstance(part, (dict, list)))
    elif tag == "dict":
        items = [(step, part) for step, part in parts(node) if step.startswith("[")]  # no keys
        yield from ((step, part, step[2:-2] in names) for step, part in items)
    elif tag == "object":
        for name, attribute in node["state"].items():
            if name in ("_modules", "_parameters", "_buffers"):
                children = [(step[2:-2], part) for step, part in parts(attribute)]
                yield from (("." + child, part, True) for child, part in children if child in names)
            elif name in names or name == "training":
                yield "." + name, attribute, True


def _traits(node: Any, buffers: Dict[str, Buffer]) -> Iterator[Tuple[str, str]]:
    node = tagged(node)
    if node is None or isinstance(node, bool):
        yield "value", repr(node)
    elif isinstance(node, (int, float)):
        yield "type", type(node).__name__
        yield "value", _in_words(node)
        yield "range", number_range(node)
    elif isinstance(node, str):
        yield "type", "text"
        yield "size", _amount(len(node))
        if len(node) <= LONG_TEXT and not re.search(r"\s", node):
            yield "value", repr(node)
    elif "dtype" in node:
        yield from _of_numbers(node, buffers)
    elif node["$"] in ("list", "tuple", "set", "frozenset", "dict"):
        yield "type", node["$"]
        yield "size", _amount(len(node["v"]))
    else:
        yield "type", describe(node)


def _of_numbers(node: Dict[str, Any], buffers: Dict[str, Buffer]) -> Iterator[Tuple[str, str]]:
    shape, data = node["shape"], node.get("data")
    dimensions = "%d dimension%s" % (len(shape), "s" * (len(shape) != 1))
    yield "type", "%s %s with %s" % (node["$"], node["dtype"], dimensions)
    if node.get("requires_grad"):
        yield "grad", "requires grad"
    if shape:
        yield "size", " × ".join(map(_amount, shape))
    elif isinstance(data, (int, float)):
        yield "range", number_range(data)
        return
    numbers = buffers[node["file"]].data if node.get("file") in buffers else _flat(data)
    yield "content", "zeros" if numbers and numbers.count(0) == len(numbers) else "numbers"


def _flat(data: Any) -> Any:
    return [number for row in data for number in _flat(row)] if isinstance(data, list) else [data]


def number_range(value: float) -> str:
    """Return where a number lies: at a limit that functions treat in a way of its own, or between two."""
    if value != value:
        return "not a number"
    return _LIMITS.get(value) or ("negative", "between 0 and 1", "above 1")[bisect([0, 1], value)]


def _amount(size: int) -> str:
    return _AMOUNTS[min(size, 2)]


def _order(node: Any) -> Iterator[Tuple[str, str]]:
    """Yield how an argument's numbers are sorted: a loop that runs backwards, or breaks ties otherwise, shows by it."""
    numbers = _listed(node, (int, float))
    if len(numbers) > 1:
        yield "order", next(word for word, holds in _ORDERS if all(map(holds, numbers, numbers[1:])))
        yield "ties", "with ties" if len(set(numbers)) < len(numbers) else "without ties"


def _spelling(node: Any) -> Iterator[Tuple[str, str]]:
    """Yield what an argument's texts have that functions treat apart: capitals, blanks, accents, nothing."""
    texts = [node] if isinstance(node, str) else _listed(node, (str,))
    for kind, has, with_it, without in _SPELLINGS if texts else ():
        yield kind, with_it if any(map(has, texts)) else without
    if "" in texts:
        yield "content", "with an empty text"


def _listed(node: Any, types: Tuple[type, ...]) -> List[Any]:
    """Return the first elements of a list, or of an array of one dimension; [] where some are of other types."""
    node = tagged(node)
    is_list = isinstance(node, dict) and (node["$"] in ("list", "tuple") or len(node.get("shape", ())) == 1)
    elements = node.get("v", node.get("data", ()))[:MOST_LISTED] if is_list else []
    return elements if all(isinstance(element, types) for element in elements) else []


def outcome_trait(raised: Optional[str]) -> Trait:
    """Return how a call ended. ``raised``: the exception's class; None where it returned."""
    return Trait("", "outcome", "returns" if raised is None else "raises %s" % raised.rpartition(".")[2])


def _in_words(node: Any) -> str:
    """Describe a node by its shape and type, or as the value that it is."""
    if isinstance(node, str) and len(node) > LONG_TEXT:
        return "text of %d characters" % len(node)
    if isinstance(node, float):
        text = "%.6g" % node
        return text if re.search("[.en]", text) else text + ".0"
    if not isinstance(node, (dict, list)):
        return describe(node)
    text = re.sub("^an? ", "", describe(node))
    differentiable = isinstance(node, dict) and node.get("requires_grad")
    return text + (", requires grad" if differentiable else "")

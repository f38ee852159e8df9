"""What a call looks like: a description of its parts for people, and its traits, by which calls are told apart."""

from __future__ import annotations

import math
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from .compare import describe
from .document import Buffer, by_id, parts, tagged

MOST_DESCRIBED, DEEPEST, LONG_TEXT = 40, 3, 40
"""Parts of a call that are described, how deep they lie, and the length of a text that is no option."""
MOST_ORDERED = 1000
"""Numbers of a list that are looked at for their order, at most."""


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
    waiting = [_Part(name, node, 0, True) for name, node in reversed(list(arguments.items()))]
    # Data is described after all else, or a vocabulary would leave no room for the arguments.
    data: List[_Part] = []
    while waiting or data:
        path, node, depth, is_option = (waiting or data).pop()
        if depth and len(texts) >= MOST_DESCRIBED:
            continue
        if isinstance(node, dict) and node.get("$") == "ref":
            node = ids[node["id"]]
        text = _in_words(node)
        if _is_mode_of_whole(path, text, texts):
            continue
        texts[path] = text
        if is_option:
            traits.extend(Trait(path, kind, value) for kind, value in _traits(node, buffers))
            if depth == 0:
                traits.extend(Trait(path, kind, value) for kind, value in (*_order(node), *_spelling(node)))
            if "[0]" not in path:  # items of a list are data
                flags.append(path + _standing(node, depth))
        if depth < DEEPEST:
            for step, part, named in reversed(list(_named(node, names))):
                below = _Part(path + step, part, depth + 1, is_option and named)
                (waiting if below.is_option else data).append(below)
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
        yield from (("[0]", item, True) for item in node["v"][:1] if isinstance(item, (dict, list)))
    elif tag == "dict":
        for step, item in parts(node):
            if step[:1] == "[":
                yield step, item, step[2:-2] in names
    elif tag == "object":
        for name, item in node["state"].items():
            if name in ("_modules", "_parameters", "_buffers"):
                inner = ((step[2:-2], part) for step, part in parts(item))
                yield from (("." + step, part, True) for step, part in inner if step in names)
            elif name in names or name == "training":
                yield "." + name, item, True


def _traits(node: Any, buffers: Dict[str, Buffer]) -> Iterator[Tuple[str, str]]:
    """Yield the traits of one part, as (kind, value)."""
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
        if len(node) <= LONG_TEXT and not any(map(str.isspace, node)):
            yield "value", repr(node)
    elif node["$"] in ("tensor", "array", "scalar"):
        yield from _of_numbers(node, buffers)
    else:
        several = node["$"] in ("list", "tuple", "set", "frozenset", "dict")
        yield "type", node["$"] if several else describe(node)
        if several:
            yield "size", _amount(len(node["v"]))


def _of_numbers(node: Dict[str, Any], buffers: Dict[str, Buffer]) -> Iterator[Tuple[str, str]]:
    shape = node["shape"]
    yield (
        "type",
        "%s %s with %d dimension%s" % (node["$"], node["dtype"], len(shape), "s" * (len(shape) != 1)),
    )
    if node.get("requires_grad"):
        yield "grad", "requires grad"
    if shape:
        yield "size", " × ".join(map(_amount, shape))
    data = node.get("data")
    if not shape and isinstance(data, (int, float)):
        yield "range", number_range(data)
        return
    if isinstance(data, list):
        zeros = bool(data) and all(item == 0 for item in _flat(data))
    else:
        buffer = buffers.get(str(node.get("file")))
        zeros = buffer is not None and bool(buffer.data) and buffer.data.count(0) == len(buffer.data)
    yield "content", "zeros" if zeros else "numbers"


def _flat(data: List[Any]) -> Iterator[Any]:
    for item in data:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item


def number_range(value: float) -> str:
    """Return where a number lies: at a limit that functions treat in a way of its own, or between two."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite"
    if value in (0, 1):
        return "zero" if value == 0 else "one"
    if value < 0:
        return "negative"
    return "between 0 and 1" if value < 1 else "above 1"


def _amount(size: int) -> str:
    if size == 0:
        return "none"
    return "one" if size == 1 else "several"


def _order(node: Any) -> Iterator[Tuple[str, str]]:
    """Yield how an argument's numbers are sorted: a loop that runs backwards, or breaks ties otherwise, shows by it."""
    numbers = _listed(node)
    if len(numbers) < 2:
        return
    steps = [(numbers[position], numbers[position + 1]) for position in range(len(numbers) - 1)]
    if all(a == b for a, b in steps):
        yield "order", "equal"
    elif all(a <= b for a, b in steps):
        yield "order", "ascending"
    elif all(a >= b for a, b in steps):
        yield "order", "descending"
    else:
        yield "order", "mixed"
    yield "ties", "with ties" if len(set(numbers)) < len(numbers) else "without ties"


def _listed(node: Any) -> List[Any]:
    """Return the numbers of a list, or of an array of one dimension; [] where there are too many, or others."""
    node = tagged(node)
    if not isinstance(node, dict):
        return []
    if node["$"] not in ("list", "tuple") and len(node.get("shape", ())) != 1:
        return []
    items = node.get("v", node.get("data"))
    if not isinstance(items, list) or len(items) > MOST_ORDERED:
        return []
    return items if all(isinstance(number, (int, float)) for number in items) else []


def _spelling(node: Any) -> Iterator[Tuple[str, str]]:
    """Yield what an argument's texts have that functions treat apart: capitals, blanks, accents, nothing."""
    node = tagged(node)
    listed = isinstance(node, dict) and node["$"] in ("list", "tuple")
    texts = (node["v"] if listed else [node])[:MOST_ORDERED]
    if not texts or not all(isinstance(text, str) for text in texts):
        return
    capitals = any(text != text.lower() for text in texts)
    yield "case", "with capitals" if capitals else "without capitals"
    odd = any("  " in text or text != text.strip() for text in texts)
    yield "blanks", "with blanks in a row or at an end" if odd else "with single blanks"
    if not all(texts):
        yield "content", "with an empty text"
    ascii_only = all(text.isascii() for text in texts)
    yield "letters", "of ASCII alone" if ascii_only else "with letters outside ASCII"


def outcome_trait(raised: Optional[str]) -> Trait:
    """Return how a call ended. ``raised``: the exception's class; None where it returned."""
    return Trait("", "outcome", "returns" if raised is None else "raises %s" % raised.rpartition(".")[2])


def _in_words(node: Any) -> str:
    """Describe a node by its shape and type, or as the value that it is."""
    if isinstance(node, str) and len(node) > LONG_TEXT:
        return "text of %d characters" % len(node)
    if isinstance(node, float):
        text = "%.6g" % node
        return text if set(text) & set(".en") else text + ".0"
    text = describe(node)
    if isinstance(node, (dict, list)) and text[:2] in ("a ", "an"):
        text = text[text.index(" ") + 1 :]
    return text + (", requires grad" if isinstance(node, dict) and node.get("requires_grad") else "")

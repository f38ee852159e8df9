"""The schema of a recorded tree: its tags, how its parts are reached, and that it is sound.

The tree holds ``null``, booleans, integers, finite floats and strings as they are; everything else is
an object whose ``$`` says what it is (:data:`FIELDS`). Any object may have an ``id``, which a
``{"$": "ref"}`` elsewhere names: one Python object stays one object.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Set, Tuple

from .buffers import BadDocument, Buffer

MAX_DEPTH = 200
"""Deepest nesting of a tree; encoder and reader agree on it."""
MAX_NODES = 5_000_000

NODE, NODES, PAIRS, STATE, TEXT, INT, INTS, FLAG, MAYBE_INT = range(9)

_ARRAY = {"dtype": TEXT, "shape": INTS}
FIELDS: Dict[str, Dict[str, int]] = {
    "ref": {"id": INT},
    "int": {"hex": TEXT},
    "str": {"hex": TEXT},
    "float": {"v": TEXT},
    "complex": {"re": NODE, "im": NODE},
    "bytes": {"b64": TEXT},
    "bytearray": {"b64": TEXT},
    "list": {"v": NODES},
    "tuple": {"v": NODES},
    "set": {"v": NODES},
    "frozenset": {"v": NODES},
    "deque": {"v": NODES, "maxlen": MAYBE_INT},
    "dict": {"v": PAIRS},
    "OrderedDict": {"v": PAIRS},
    "Counter": {"v": PAIRS},
    "defaultdict": {"v": PAIRS, "factory": NODE},
    "factory": {"v": NODE},
    "namedtuple": {"cls": TEXT, "v": STATE},
    "object": {"cls": TEXT, "state": STATE, "?base": NODE},
    "enum": {"cls": TEXT, "value": NODE},
    "slice": {"v": NODES},
    "range": {"v": NODES},
    "ellipsis": {},
    "notimplemented": {},
    "value": {"type": TEXT, "args": NODES},
    "name": {"kind": TEXT, "name": TEXT},
    "method": {"self": NODE, "name": TEXT},
    "partial": {"func": NODE, "args": NODES, "kw": PAIRS},
    "reduce": {"call": NODE, "args": NODES, "state": NODE, "items": NODES, "pairs": PAIRS},
    "ndarray": dict(_ARRAY, **{"b": TEXT, "?cls": TEXT, "?order": TEXT}),
    "objectarray": {"v": NODES, "shape": INTS},
    "npscalar": {"dtype": TEXT, "hex": TEXT},
    "tensor": dict(
        _ARRAY,
        **{"b": TEXT, "stride": INTS, "offset": INT, "requires_grad": FLAG, "leaf": FLAG, "device": TEXT,
           "?cls": TEXT, "?grad": NODE, "?attrs": STATE},
    ),
    "sparse": {"indices": NODE, "values": NODE, "shape": INTS, "requires_grad": FLAG, "coalesced": FLAG},
    "dataframe": {"columns": NODE, "index": NODE, "v": NODES},
    "series": {"values": NODE, "index": NODE, "name": NODE},
    "index": {"values": NODE, "names": NODE, "kind": TEXT},
    "extension": {"dtype": TEXT, "values": NODE},
    "categorical": {"codes": NODE, "categories": NODE, "ordered": FLAG},
    "fixture": {"name": TEXT},
    "omitted": {},
}  # fmt: skip
"""Tag → its fields and what each holds; ``?`` marks one that may be absent."""


def children(node: Dict[str, Any]) -> Iterator[Tuple[str, str, Any]]:
    """Sub-nodes of a node as (field, how it is reached in a path, sub-node), keys of pairs included."""
    for field, kind in FIELDS[node["$"]].items():
        name = field.lstrip("?")
        if name not in node:
            continue
        value = node[name]
        if kind == NODE:
            yield name, "." + name, value
        elif kind == NODES:
            for position, item in enumerate(value):
                yield name, "[%d]" % position, item
        elif kind == PAIRS:
            for position, (key, item) in enumerate(value):
                yield name, "<key %d>" % position, key
                yield name, key_text(key, position), item
        elif kind == STATE:
            for attribute, item in value:
                yield name, "." + attribute, item


def key_text(key: Any, position: int) -> str:
    """How a dictionary's item is written in a path: ``['loss']``, ``[3]``, or its place."""
    if key is None or isinstance(key, (bool, int, float, str)):
        return "[%r]" % (key,)
    return "[<item %d>]" % position


def join(path: str, step: str) -> str:
    """A path one step longer; below the root ``""``, ``['loss']`` is written ``loss``."""
    if path:
        return path + step
    if step.startswith(("['", '["')):
        return step[2:-2]
    return step.lstrip(".")


def check(root: Any, buffers: Mapping[str, Buffer]) -> None:
    """Check that every node has its fields and that every name leads somewhere.

    Raises BadDocument. Never recurses, so depth cannot exhaust the stack.
    """
    ids: Set[int] = set()
    refs: Set[int] = set()
    stack: List[Tuple[Any, int]] = [(root, 0)]
    seen = 0
    while stack:
        node, depth = stack.pop()
        seen += 1
        if node is None or isinstance(node, (bool, int, float, str)):
            continue
        if depth > MAX_DEPTH or seen > MAX_NODES:
            raise BadDocument("the document is nested too deeply or has too many parts")
        if not isinstance(node, dict) or not isinstance(node.get("$"), str) or node["$"] not in FIELDS:
            raise BadDocument("not a node: %.60r" % (node,))
        _check_fields(node, buffers)
        if node["$"] == "ref":
            refs.add(node["id"])
        elif "id" in node:
            if type(node["id"]) is not int or node["id"] in ids:
                raise BadDocument("an id that is used twice: %.60r" % (node["id"],))
            ids.add(node["id"])
        stack.extend((item, depth + 1) for _, _, item in children(node))
    if refs - ids:
        raise BadDocument("references to nothing: %.60r" % sorted(refs - ids))


def _check_fields(node: Dict[str, Any], buffers: Mapping[str, Buffer]) -> None:
    for field, kind in FIELDS[node["$"]].items():
        name = field.lstrip("?")
        if name not in node:
            if field.startswith("?"):
                continue
            raise BadDocument("a %s without %s" % (node["$"], name))
        if not _has_kind(node[name], kind):
            raise BadDocument("%s of a %s is %.60r" % (name, node["$"], node[name]))
    if "b" in FIELDS[node["$"]]:
        buffer = buffers.get(node["b"])
        if buffer is None:
            raise BadDocument("a buffer that is not there: %.60r" % node["b"])
        if any(size < 0 for size in node["shape"]):
            raise BadDocument("a negative size: %.60r" % node["shape"])
        if node["$"] == "tensor":
            _check_extent(node, buffer)
        elif tuple(node["shape"]) != buffer.shape:
            raise BadDocument("an array whose shape is not its buffer's")


def _check_extent(node: Dict[str, Any], buffer: Buffer) -> None:
    """That a tensor's shape, strides and offset stay inside its storage."""
    size = TORCH_SIZES.get(node["dtype"])
    shape, stride = node["shape"], node["stride"]
    if size is None or len(shape) != len(stride) or node["offset"] < 0 or any(n < 0 for n in stride):
        raise BadDocument("a tensor of unknown layout: %.60r" % node["dtype"])
    if 0 in shape:
        return
    last = node["offset"] + sum((n - 1) * step for n, step in zip(shape, stride))
    if (last + 1) * size > len(buffer.data):
        raise BadDocument("a tensor that leaves its storage")


def _has_kind(value: Any, kind: int) -> bool:
    if kind == NODE:
        return True
    if kind == NODES:
        return isinstance(value, list)
    if kind == PAIRS:
        return isinstance(value, list) and all(isinstance(p, list) and len(p) == 2 for p in value)
    if kind == STATE:
        pairs = isinstance(value, list) and all(isinstance(p, list) and len(p) == 2 for p in value)
        return pairs and all(isinstance(p[0], str) for p in value)
    if kind == TEXT:
        return isinstance(value, str)
    if kind == FLAG:
        return isinstance(value, bool)
    if kind == INTS:
        return isinstance(value, list) and all(type(n) is int and abs(n) < 2**62 for n in value)
    return (type(value) is int and abs(value) < 2**62) or (kind == MAYBE_INT and value is None)


TORCH_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint16": 2, "uint32": 4,
    "uint64": 8, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8,
    "complex128": 16, "float8_e4m3fn": 1, "float8_e5m2": 1, "complex32": 4,
}  # fmt: skip
"""torch's element types → bytes per element."""


def kind_of(node: Any) -> str:
    """What has to be the same before values are compared; both spellings of a float are one."""
    if isinstance(node, dict):
        return str(node["$"])
    return "none" if node is None else type(node).__name__

"""A recorded value as data: a JSON tree, and beside it the arrays that are too large to be written into it.

The tree holds ``null``, booleans, numbers and texts as they are, lists as lists, and dictionaries with texts for keys
as objects. Everything else is an object whose ``$`` says what it is (:data:`FIELDS`). Any of these may have an ``id``,
which a ``{"$": "ref"}`` elsewhere names: one Python object stays one object.
"""

from __future__ import annotations

import ast
import json
import os
import struct
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Tuple

FORMAT = "lmr-recording/2"
MAX_DEPTH = 200
"""Deepest nesting of a tree; encoder and reader agree on it."""


DEFAULT_LIMIT = 256 * 1024 * 1024
"""Largest document by default (bytes)."""


class Kind(NamedTuple):
    """What a field of a node holds.

    Attributes:
        fits: whether a value is of this kind; whoever writes a hostile document chooses it.
        steps: field's name and value → the nodes in it, each with the step of the path that leads there.
    """

    fits: Callable[[Any], bool]
    steps: Callable[[str, Any], Iterable[Tuple[str, Any]]] = lambda name, value: ()


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(size) is int and 0 <= size < 2**48 for size in value)


def _pair_steps(name: str, pairs: Any) -> Iterator[Tuple[str, Any]]:
    for index, (key, value) in enumerate(pairs):
        if isinstance(key, (dict, list)):
            yield "<key %d>" % index, key
        yield key_text(key, index), value


NODE = Kind(lambda value: True, lambda name, node: [("" if name == "base" else "." + name, node)])
NODES = Kind(
    lambda value: isinstance(value, list),
    lambda name, nodes: [("[%d]" % index, node) for index, node in enumerate(nodes)],
)
PAIRS = Kind(_are_pairs, _pair_steps)
STATE = Kind(
    lambda value: isinstance(value, dict),
    lambda name, state: [("." + attribute, node) for attribute, node in state.items()],
)
TEXT = Kind(lambda value: isinstance(value, str))
FLAG = Kind(lambda value: isinstance(value, bool))
INTS = Kind(_are_sizes)
NAMES = Kind(lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value))
DATA = Kind(lambda value: True)


class Field(NamedTuple):
    """A field of a node. ``required``: no node of its tag is without it."""

    name: str
    kind: Kind
    required: bool = True


def _fields(**kinds: Kind) -> Tuple[Field, ...]:
    return tuple(Field(name, kind) for name, kind in kinds.items())


def _optional(**kinds: Kind) -> Tuple[Field, ...]:
    return tuple(Field(name, kind, required=False) for name, kind in kinds.items())


_ARRAY = _fields(dtype=TEXT, shape=INTS) + _optional(data=DATA, file=TEXT)
FIELDS: Dict[str, Tuple[Field, ...]] = {
    "ref": (),
    "list": _fields(v=NODES),
    "tuple": _fields(v=NODES),
    "set": _fields(v=NODES),
    "frozenset": _fields(v=NODES),
    "dict": _fields(v=PAIRS),
    "bytes": _fields(v=TEXT),
    "bytearray": _fields(v=TEXT),
    "complex": _fields(v=DATA),
    "tensor": _ARRAY + _optional(requires_grad=FLAG, leaf=FLAG, cls=TEXT, grad=NODE, attrs=STATE),
    "array": _ARRAY + _optional(cls=TEXT),
    "scalar": _ARRAY,
    "objects": _fields(shape=INTS, v=NODES),
    "structured": _fields(layout=DATA, shape=INTS, v=STATE) + _optional(cls=TEXT),
    "sparse": _fields(layout=TEXT, shape=INTS, places=NODE, numbers=NODE) + _optional(coalesced=FLAG),
    "table": _fields(columns=NODE, index=NODE, v=NODES),
    "name": _fields(v=TEXT),
    "namedtuple": _fields(cls=TEXT, v=STATE),
    "object": _fields(cls=TEXT) + _optional(base=NODE) + _fields(state=STATE) + _optional(lazy=NAMES),
    "call": _fields(call=NODE, args=NODES) + _optional(state=NODE, items=NODES, pairs=PAIRS),
    "make": _fields(kind=TEXT, args=NODES),
    "fixture": _fields(v=TEXT),
    "omitted": (),
}
"""Tag → its fields, in the order in which their nodes are walked."""

NPY_TYPES = {
    "bool": "|b1", "uint8": "|u1", "int8": "|i1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4",
    "int64": "<i8", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8", "complex64": "<c8",
    "complex128": "<c16", "bfloat16": "<i2",
}  # fmt: skip
"""Element type → its ``.npy`` type. bfloat16, which numpy lacks, is stored as the integers with the same bits."""


class BadDocument(Exception):
    """A damaged recording, or none at all: the only error that reading one raises.

    Args:
        part: the part that cannot be rebuilt, as in ``self.tokenizer``; "" for the whole.
    """

    def __init__(self, message: str, part: str = "") -> None:
        self.part = part
        super().__init__("%s: %s" % (part, message) if part else message)


class Buffer(NamedTuple):
    """Numbers of one type, little-endian and in C order. ``descr``: their type as ``.npy`` files have it."""

    descr: str
    shape: Tuple[int, ...]
    data: bytes


class Omitted(NamedTuple):
    """A part that was left out of an object's state: where, what it was, what to do about it."""

    path: str
    type: str
    advice: str


class Unstorable(Exception):
    """Values that cannot be stored: ``problems`` are (path, type, advice)."""

    def __init__(self, problems: Iterable[Omitted]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join("%s: cannot store a %s (%s)" % problem for problem in self.problems))


class TooLarge(Exception):
    """A value over the size limit. ``path`` is its largest part; sizes in bytes."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        self.path, self.size, self.limit = path, size, limit
        super().__init__("%s: %d bytes, more than the limit of %d" % (path or "value", size, limit))


class Document:
    """A value as a JSON tree and buffers (by name), with a list of the parts that were left out."""

    def __init__(self, tree: Any, buffers: Dict[str, Buffer], omitted: Tuple[Omitted, ...] = ()) -> None:
        self.tree = tree
        self.buffers = buffers
        self.omitted = omitted

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers together."""
        return sum(len(buffer.data) for buffer in self.buffers.values())


def is_complex(dtype: str) -> bool:
    """Tell whether numbers of a type are written as pairs: real and imaginary part."""
    return dtype.startswith("complex")


def tagged(node: Any) -> Any:
    """Return the tagged node that a list or plain object abbreviates; any other node as it is."""
    if isinstance(node, list):
        return {"$": "list", "v": node}
    if isinstance(node, dict) and "$" not in node:
        return {"$": "dict", "v": [[key, value] for key, value in node.items()]}
    return node


def join(path: str, step: str) -> str:
    """Return a path one step longer; below the root ``""``, ``['loss']`` is written ``loss``."""
    if path:
        return path + step
    return step[2:-2] if step.startswith(("['", '["')) else step.lstrip(".")


def key_text(key: Any, index: int) -> str:
    """Return the step to a dictionary's item: ``['loss']``, ``[3]``, or its place."""
    plain = key is None or isinstance(key, (bool, int, float, str))
    return "[%r]" % (key,) if plain else "[<item %d>]" % index


def parts(node: Any) -> Iterator[Tuple[str, Any]]:
    """Yield a node's sub-nodes as (step of the path, sub-node), keys of pairs included."""
    node = tagged(node)
    for field in FIELDS[node["$"]] if isinstance(node, dict) else ():
        if field.name in node:
            yield from field.kind.steps(field.name, node[field.name])


def walk(tree: Any) -> Iterator[Tuple[str, Any]]:
    """Yield every node once, as (path, node), in recording order; references are not followed."""
    stack: List[Tuple[str, Any]] = [("", tree)]
    while stack:
        path, node = stack.pop()
        yield path, node
        if isinstance(node, (dict, list)):
            below = [(join(path, step) if step else path, part) for step, part in parts(node)]
            stack.extend(reversed(below))


def by_id(tree: Any) -> Dict[int, Any]:
    """Return the nodes that references name, by their ids."""
    nodes = (node for _, node in walk(tree) if isinstance(node, dict) and node.get("$", "ref") != "ref")
    return {node["id"]: node for node in nodes if "id" in node}


def dump(document: Document, folder: str, stem: str) -> None:
    """Write ``<stem>.json`` and, for each large array, ``<stem>.<n>.npy``."""
    base = os.path.join(str(folder), stem)
    for name, buffer in document.buffers.items():
        with open("%s.%s.npy" % (base, name), "wb") as file:
            file.write(write_npy(buffer))
    header = {
        "format": FORMAT,
        "omitted": [list(omission) for omission in document.omitted],
        "values": document.tree,
    }
    with open(base + ".json", "w", encoding="ascii") as text:
        text.write(pretty(header) + "\n")


def pretty(value: Any, indent: str = "") -> str:
    """Format JSON for people: whatever fits into a line is one line."""
    text = json.dumps(value)
    if len(text) + len(indent) <= 110 or not isinstance(value, (dict, list)):
        return text
    inner = indent + " "
    if isinstance(value, list) and not any(isinstance(part, (dict, list)) for part in value):
        # Lines are broken between items only: a blank inside of a text stays what it is.
        rows, row = [], inner
        for part in value:
            word = json.dumps(part) + ", "
            if len(row) + len(word) > 110 and row != inner:
                rows.append(row)
                row = inner
            row += word
        return "[\n%s\n%s]" % ("\n".join([*(part.rstrip() for part in rows), row[:-2]]), indent)
    if isinstance(value, list):
        lines = [inner + pretty(part, inner) for part in value]
    else:
        lines = ["%s%s: %s" % (inner, json.dumps(key), pretty(part, inner)) for key, part in value.items()]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return "%s\n%s\n%s%s" % (opening, ",\n".join(lines), indent, closing)


def read_file(path: str) -> bytes:
    """Return a file's bytes. Raises BadDocument."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise BadDocument("cannot read %s: %s" % (os.path.basename(path), error.strerror)) from error


def read(folder: str, stem: str) -> Document:
    """Read a document that :func:`dump` wrote; :func:`.checking.load` checks it, too. Raises BadDocument."""
    base = os.path.join(str(folder), stem)
    header = parse_json(read_file(base + ".json"))
    if header.get("format") != FORMAT:
        raise BadDocument("the format is %.40r, not %s" % (header.get("format"), FORMAT))
    buffers = {}
    try:
        for _, node in walk(header.get("values")):
            if isinstance(node, dict) and "$" in node and "file" in node:
                name = node["file"]
                if not (isinstance(name, str) and name.isdigit()):
                    raise BadDocument("not the name of a file: %.60r" % (name,))
                buffers[name] = read_npy(read_file("%s.%s.npy" % (base, name)))
        omitted = tuple(Omitted(*omission) for omission in header["omitted"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadDocument("not a tree: %s" % error) from error
    return Document(header.get("values"), buffers, omitted)


def parse_json(data: bytes) -> Dict[str, Any]:
    """Parse a JSON object. Raises BadDocument."""
    try:
        header = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadDocument("not JSON: %s" % error) from error
    if not isinstance(header, dict):
        raise BadDocument("no JSON object")
    return header


def write_npy(buffer: Buffer) -> bytes:
    """Return the bytes of a ``.npy`` file, version 1.0. By hand: an environment with PyTorch need not have numpy."""
    text = "{'descr': %r, 'fortran_order': False, 'shape': %r, }" % (buffer.descr, tuple(buffer.shape))
    raw = text.encode("latin1")
    raw += b" " * (-(len(raw) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(raw)) + raw + buffer.data


def read_npy(data: bytes) -> Buffer:
    """Read a ``.npy`` file as :func:`write_npy` makes it. Raises BadDocument."""
    size = struct.unpack("<H", data[8:10])[0] if data[:8] == b"\x93NUMPY\x01\x00" and len(data) > 10 else -1
    if not 0 <= size <= len(data) - 10:
        raise BadDocument("not a .npy file")
    try:
        header = ast.literal_eval(data[10 : 10 + size].decode("latin1").strip())
        descr, shape, fortran = header["descr"], tuple(header["shape"]), header["fortran_order"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
        raise BadDocument("not a .npy header") from error
    if fortran is not False or not all(type(size) is int and 0 <= size < 2**48 for size in shape):
        raise BadDocument("a .npy file that is not in C order")
    return Buffer(str(descr), shape, data[10 + size :])

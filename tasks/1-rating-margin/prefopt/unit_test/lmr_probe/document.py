"""A recorded value at rest: a tagged JSON tree and the raw buffers it names.

Reading a document only parses
JSON and numbers; it never imports or constructs, so a host can read what a hostile process wrote.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Dict, List, NamedTuple, Tuple

from .buffers import BadDocument, Buffer
from .tree import children

__all__ = ["FORMAT", "BadDocument", "Buffer", "Document", "Omitted", "combine"]

FORMAT = "lmr-recording/1"


class Omitted(NamedTuple):
    """A part that was left out of an object's state: where, what it was, what to do about it."""

    path: str
    type: str
    advice: str


class Document:
    """A value as JSON tree and buffers. Attributes: ``tree``, ``buffers`` (by name), ``omitted``."""

    def __init__(self, tree: Any, buffers: Dict[str, Buffer], omitted: Tuple[Omitted, ...] = ()) -> None:
        self.tree = tree
        self.buffers = buffers
        self.omitted = omitted

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers together."""
        return sum(len(buffer.data) for buffer in self.buffers.values())

    def digest(self) -> str:
        """SHA-256 of tree and buffers: the same for two documents exactly if they say the same."""
        digest = hashlib.sha256(json.dumps(self.header(), sort_keys=True).encode("ascii"))
        for name, buffer in self.buffers.items():
            digest.update(("%s %s %s\n" % (name, buffer.dtype, buffer.shape)).encode("utf-8", "replace"))
            digest.update(buffer.data)
        return digest.hexdigest()

    def header(self) -> Dict[str, Any]:
        """The JSON part, without the buffers."""
        return {"format": FORMAT, "tree": self.tree, "omitted": [list(item) for item in self.omitted]}


def combine(parts: List[Tuple[str, Any]]) -> Document:
    """One dictionary document from several documents, or lists of documents, that keep nothing shared."""
    buffers: Dict[str, Buffer] = {}
    omitted: List[Omitted] = []
    next_id = 0

    def absorb(document: Document) -> Any:
        nonlocal next_id
        names = {}
        for name, buffer in document.buffers.items():
            names[name] = "b%d" % len(buffers)
            buffers[names[name]] = buffer
        omitted.extend(document.omitted)
        tree = json.loads(json.dumps(document.tree))
        stack, first = [tree], next_id
        while stack:
            node = stack.pop()
            if isinstance(node, dict):
                if "b" in node:
                    node["b"] = names[node["b"]]
                if "id" in node:
                    node["id"] += first
                    next_id = max(next_id, node["id"] + 1)
                stack.extend(item for _, _, item in children(node))
        return tree

    pairs = []
    for key, part in parts:
        tree = {"$": "list", "v": [absorb(item) for item in part]} if isinstance(part, list) else absorb(part)
        pairs.append([key, tree])
    return Document({"$": "dict", "v": pairs}, buffers, tuple(omitted))

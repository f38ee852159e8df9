"""New inputs from recorded ones: other numbers in the same shapes, flags turned, options taken that no call took.

They are inputs only. What the function has to return for them is what the golden returns, inside the sandbox.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lmr_author import files
from lmr_author.probe.buffers import Buffer
from lmr_author.probe.document import Document
from lmr_author.recording.parameters import Parameters

MOST = 60
"""Variations tried by default."""
MOST_CHANGES = 3
"""Arguments that one of them changes at most."""
_CHANGES = ("fresh", "order", "scale", "ties")
LARGE = 10.0
"""How much larger numbers are that show what overflows."""
LARGE_OF = 3
"""Recorded calls of which such variations are made."""
_LARGE = 1 << 22
"""Larger buffers (bytes) are left as they are."""

Draw = Callable[[Any], Any]


def variations(bases: Sequence[Document], parameters: Parameters) -> list[Document]:
    """Up to ``MOST`` different inputs, the same each time; the simplest come first.

    Args:
        bases: inputs of calls, as recorded.
    """
    from hypothesis import HealthCheck, Phase, given, settings, strategies

    originals = {item.digest() for item in bases}
    found = {item.digest(): item for base in bases[:LARGE_OF] for item in _large(base)}

    @settings(
        max_examples=2 * MOST,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(strategies.data())
    def collect(data: Any) -> None:
        base = data.draw(strategies.sampled_from(list(bases)))
        made = _Variation(base, parameters, data.draw).make()
        if made.digest() not in originals:
            found.setdefault(made.digest(), made)

    with _nothing_written():
        collect()
    return list(found.values())[:MOST]


@contextmanager
def _nothing_written() -> Iterator[None]:
    """Hypothesis keeps what it reads of loaded modules in the current folder, which may be a task's."""
    from hypothesis.configuration import set_hypothesis_home_dir

    with files.temporary_folder("lmr-author-hypothesis-") as elsewhere:
        set_hypothesis_home_dir(elsewhere)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


def _large(base: Document) -> list[Document]:
    """For each argument that is a float tensor or array, inputs in which it is much larger.

    Random ones are never large enough for an exponential to overflow where a maximum ought to be subtracted first.
    """
    made = []
    for place, (name, node) in enumerate(base.tree["v"]):
        buffer = base.buffers.get(node.get("b", "")) if isinstance(node, dict) else None
        if name.startswith("@") or buffer is None or buffer.dtype not in ("F32", "F64"):
            continue
        tree = copy.deepcopy(base.tree)
        tree["v"] = [pair for pair in tree["v"] if pair[0] != "@random"]
        larger = renumbered(buffer, "large", place)
        if larger != buffer:
            made.append(Document(tree, {**base.buffers, node["b"]: larger}, base.omitted))
    return made


class _Variation:
    """One new document, changed in a few places."""

    def __init__(self, base: Document, parameters: Parameters, draw: Draw) -> None:
        from hypothesis import strategies

        self.st: Any = strategies
        self.parameters, self.draw = parameters, draw
        self.buffers = dict(base.buffers)
        self.tree = copy.deepcopy(base.tree)
        self.omitted = base.omitted

    def make(self) -> Document:
        """The document; the states of random generators are left out, so that they are fresh."""
        pairs = [pair for pair in self.tree["v"] if pair[0] != "@random"]
        given = {name for name, _ in pairs}
        open_names = [name for name in self.parameters.defaults if name not in given]
        names = [name for name, _ in pairs if not name.startswith("@")] + open_names
        if names:
            changed = self.draw(
                self.st.lists(self.st.sampled_from(names), min_size=1, max_size=MOST_CHANGES, unique=True)
            )
            for pair in pairs:
                if pair[0] in changed:
                    pair[1] = self.value(pair[1], pair[0])
            for name in changed:
                if name in open_names:
                    pairs.append([name, self.other(self.parameters.defaults[name], name)])
        self.tree["v"] = [pair for pair in pairs if not pair[0].startswith("@")] + [
            pair for pair in pairs if pair[0].startswith("@")
        ]
        return Document(self.tree, self.buffers, self.omitted)

    def pick(self, values: Sequence[Any]) -> Any:
        """One of some values."""
        return self.draw(self.st.sampled_from(list(values)))

    def other(self, default: Any, name: str) -> Any:
        """A value in place of a default."""
        if default is None or isinstance(default, str):
            choices = [item for item in self.parameters.choices.get(name, ()) if item != default]
            return self.pick(choices) if choices else default
        return self.value(default, name)

    def value(self, node: Any, name: str) -> Any:
        """Another node in place of one."""
        if isinstance(node, bool):
            return not node
        if isinstance(node, int):
            return self.pick(
                [item for item in (node + 1, node - 1, 2 * node + 1, 1) if node < 0 or item >= 0]
            )
        if isinstance(node, float):
            return self.pick([node * 0.5, node * 2.0, node + 0.25, 0.3])
        if isinstance(node, str):
            return self.text(node, name)
        return self.compound(node, name) if isinstance(node, dict) else node

    def text(self, node: str, name: str) -> str:
        """Another option where there are some, else the words in another order, fewer or in another case."""
        choices = [item for item in self.parameters.choices.get(name, ()) if item != node]
        if choices:
            return str(self.pick(choices))
        words = node.split()
        return str(
            self.pick(
                [
                    " ".join(reversed(words)),
                    " ".join(words[1:]),
                    " ".join(words + words[:1]),
                    node.upper(),
                    node + ".",
                    "",
                ]
            )
        )

    def compound(self, node: dict[str, Any], name: str) -> Any:
        """A container with one item changed, an array with other numbers."""
        tag = node["$"]
        if tag in ("list", "tuple", "deque") and node["v"]:
            self.sequence(node["v"], name)
        elif tag in ("dict", "OrderedDict", "defaultdict") and node["v"]:
            pair = self.pick(range(len(node["v"])))
            node["v"][pair][1] = self.value(node["v"][pair][1], name)
        elif tag in ("tensor", "ndarray"):
            self.numbers(node["b"])
        elif tag in ("dataframe", "series"):
            inner = node["v"] if tag == "dataframe" else [node["values"]]
            column = self.pick(range(len(inner))) if inner else 0
            if inner and isinstance(inner[column], dict):
                self.column(inner[column])
        return node

    def column(self, node: dict[str, Any]) -> None:
        """Other values in a column, as many as before; numbers that are missing, as tables have them."""
        if node["$"] in ("tensor", "ndarray"):
            self.numbers(node["b"], (*_CHANGES, "holes"))
            return
        items = node if node["$"] == "list" else node.get("values", {})
        if items.get("$") == "list" and len(items["v"]) > 1:
            how, place = self.pick(["order", "ties", "holes"]), self.pick(range(len(items["v"])))
            if how == "order":
                items["v"] = self.draw(self.st.permutations(items["v"]))
            else:
                items["v"][place] = items["v"][0] if how == "ties" else None

    def sequence(self, items: list[Any], name: str) -> None:
        """Change, drop, or repeat an item, or turn the order around. An item that others name stays."""
        place = self.pick(range(len(items)))
        how = self.pick(["change", "drop", "repeat", "reverse"])
        free = '"id"' not in repr(items).replace("'", '"') and '"ref"' not in repr(items).replace("'", '"')
        if how == "change" or not free:
            items[place] = self.value(items[place], name)
        elif how == "drop":
            del items[place]
        elif how == "repeat":
            items.append(copy.deepcopy(items[place]))
        else:
            items.reverse()

    def numbers(self, name: str, changes: Sequence[str] = _CHANGES) -> None:
        """Other numbers of the same kind: floats about as large, integers from the same range."""
        buffer = self.buffers[name]
        if len(buffer.data) > _LARGE or not buffer.data:
            return
        seed = self.draw(self.st.integers(0, 2**16))
        self.buffers[name] = renumbered(buffer, self.pick(changes), seed)


_NUMPY = {
    "F16": "<f2", "F32": "<f4", "F64": "<f8", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8",
    "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "BOOL": "?", "BF16": "<u2",
}  # fmt: skip


def renumbered(buffer: Buffer, how: str, seed: int) -> Buffer:
    """A buffer with other numbers.

    Args:
        how: ``fresh`` numbers, another ``order``, another ``scale`` of floats, many ``ties``, ``holes`` among
            floats (NaN), or ``large`` ones.
    """
    import numpy

    text = _NUMPY.get(buffer.dtype)
    if text is None:
        return buffer
    values = numpy.frombuffer(buffer.data, dtype=text).copy()
    random = numpy.random.default_rng(seed)
    floats = values.dtype.kind == "f"
    if how == "order" or buffer.dtype == "BF16" or (how in ("scale", "holes") and not floats):
        values = random.permutation(values)
    elif how == "ties":
        values[random.random(len(values)) < 0.5] = values[0]
    elif how == "large":
        values = (values * LARGE).astype(text)
    elif how == "holes":
        values[random.integers(len(values))] = numpy.nan
    elif how == "scale":
        values = (values * random.choice([-1.0, 0.5, 3.0])).astype(text)
    elif floats:
        finite = values[numpy.isfinite(values)].astype("f8")
        spread, middle = (float(finite.std()), float(finite.mean())) if len(finite) else (1.0, 0.0)
        values = random.normal(middle, spread or 1.0, len(values)).astype(text)
    elif values.dtype.kind == "b":
        values = random.random(len(values)) < 0.5
    else:
        values = random.integers(values.min(), values.max(), len(values), endpoint=True).astype(text)
    return Buffer(buffer.dtype, buffer.shape, values.tobytes())

"""Values to documents and back, without pickle.

``encode`` copies a value; ``decode`` rebuilds it and may import the classes it names, so it runs only
inside the environment. The host reads documents (:mod:`.document`) and compares them
(:mod:`.compare`), which never imports nor constructs anything.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Optional

from .buffers import BadDocument, Buffer
from .decoder import Decoder
from .document import Document, Omitted
from .encoder import DEFAULT_LIMIT, Encoder
from .fixtures import Fixtures
from .problems import Problem, TooLarge, Unstorable
from .storage import dump, from_bytes, load, to_bytes
from .values import OmittedPart

__all__ = [
    "DEFAULT_LIMIT",
    "BadDocument",
    "Buffer",
    "Document",
    "Fixtures",
    "Omitted",
    "OmittedPart",
    "Problem",
    "TooLarge",
    "Unstorable",
    "decode",
    "dump",
    "encode",
    "from_bytes",
    "load",
    "to_bytes",
]  # fmt: skip


def encode(
    value: Any,
    limit: int = DEFAULT_LIMIT,
    skip: Iterable[str] = (),
    stands_in: Optional[Callable[[Any, str], Optional[str]]] = None,
    project: Iterable[str] = (),
) -> Document:
    """A full copy of a value as a document.

    Args:
        limit: largest size of the result, in bytes.
        skip: paths of attributes to leave out (they are listed in ``omitted``).
        project: paths of large tensors and arrays of which only a projection is kept.
        stands_in: object and path → the fixture that is recorded in its place, or None.

    Paths start at the value: item ``loss`` of a dictionary is ``loss``, its second item ``loss[1]``.
    What cannot be stored is left out when it is an object's attribute (see ``omitted``), and otherwise
    raises Unstorable with all such places. Raises TooLarge before large data are copied.
    """
    return Encoder(limit, skip, stands_in, project).run(value)


def decode(document: Document, fixtures: Optional[Fixtures] = None) -> Any:
    """The value of a document; imports the classes it names, builds its fixtures. Raises BadDocument."""
    return Decoder(document, fixtures).run()

"""Which entries of two mappings belong together: by key, whatever their order, or by place."""

from __future__ import annotations

import json
from typing import Any, Iterable, List, NamedTuple, Optional

from .tree import join as join_path
from .tree import key_text


class Matched(NamedTuple):
    """An entry of one mapping, of the other, or of both.

    Attributes:
        path: where it is.
        wanted, got: ``[key, node]``; None where there is no such entry.
    """

    path: str
    wanted: Optional[List[Any]]
    got: Optional[List[Any]]


def match(wanted: List[List[Any]], got: List[List[Any]], path: str) -> Optional[List[Matched]]:
    """Entries with equal keys; None when a key is no plain value, so that the order has to tell."""
    wanted_keys, got_keys = _plain(wanted), _plain(got)
    if wanted_keys is None or got_keys is None:
        return None
    rest = dict(zip(got_keys, got))
    found = [
        Matched(join_path(path, key_text(pair[0], place)), pair, rest.pop(text, None))
        for place, (text, pair) in enumerate(zip(wanted_keys, wanted))
    ]
    return found + [
        Matched(join_path(path, key_text(pair[0], place)), None, pair)
        for place, pair in enumerate(rest.values())
    ]


def same_order(wanted: List[List[Any]], got: List[List[Any]]) -> bool:
    """Whether two mappings with the same keys have them in the same order."""
    return _plain(wanted) == _plain(got)


def _plain(pairs: Iterable[List[Any]]) -> Optional[List[str]]:
    """Keys as text, or None when one of them is no plain value."""
    result = []
    for key, _ in pairs:
        text = json.dumps(key, sort_keys=True)
        if '"b":' in text or '"id":' in text or '"object"' in text or '"reduce"' in text:
            return None
        result.append(text)
    return result

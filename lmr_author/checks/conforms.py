"""Whether a value is as a JSON schema says, where that is easily told.

Nearly every file of a task is. To load the library that says what is wrong with the others takes longer than all
checks of a task together, so it is asked only about these: a True here is certain, a False only means that it has
to be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def conforms(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether a value surely conforms; False also for a schema with keywords that are not known here."""
    if not isinstance(schema, Mapping):
        return False
    for keyword, wanted in schema.items():
        if keyword not in _TELLS_NOTHING and not _KEYWORDS.get(keyword, _unknown)(value, wanted, schema):
            return False
    return True


def _unknown(value: Any, wanted: Any, schema: Mapping[str, Any]) -> bool:
    return False


def _type(value: Any, wanted: Any, schema: Mapping[str, Any]) -> bool:
    return any(type(value) in _TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted))


def _enum(value: Any, wanted: Any, schema: Mapping[str, Any]) -> bool:
    return isinstance(value, str | int) and any(
        type(value) is type(option) and value == option for option in wanted
    )


def _properties(value: Any, wanted: Any, schema: Mapping[str, Any]) -> bool:
    return type(value) is dict and all(
        conforms(item, wanted[key]) for key, item in value.items() if key in wanted
    )


def _further(value: Any, wanted: Any, schema: Mapping[str, Any]) -> bool:
    known = schema.get("properties", {})
    rest = [item for key, item in value.items() if key not in known] if type(value) is dict else [None]
    return (
        wanted is True or not rest or (wanted is not False and all(conforms(item, wanted) for item in rest))
    )


_TELLS_NOTHING = frozenset({"$schema", "$id", "$defs", "title", "description", "default", "format"})
"""Keywords that no value violates; formats are not checked."""
_KEYWORDS: dict[str, Callable[[Any, Any, Mapping[str, Any]], bool]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda value, wanted, schema: _enum(value, [wanted], schema),
    "required": lambda value, wanted, schema: type(value) is dict and all(key in value for key in wanted),
    "properties": _properties,
    "additionalProperties": _further,
    "items": lambda value, wanted, schema: (
        type(value) is list and all(conforms(item, wanted) for item in value)
    ),
    "pattern": lambda value, wanted, schema: type(value) is str and re.search(wanted, value) is not None,
    "minLength": lambda value, wanted, schema: type(value) is str and len(value) >= wanted,
    "minItems": lambda value, wanted, schema: type(value) is list and len(value) >= wanted,
    "minimum": lambda value, wanted, schema: type(value) in (int, float) and value >= wanted,
    "maximum": lambda value, wanted, schema: type(value) in (int, float) and value <= wanted,
}

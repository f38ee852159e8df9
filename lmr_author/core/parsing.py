"""Parse JSON and YAML that others wrote: plain data, or one error. Nothing else here calls a parser on foreign text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

MOST_VALUES = 2_000_000
"""Values of a YAML file with its aliases written out: nine lines can stand for a billion."""


class NotParsed(ValueError):
    """Text that is not JSON or YAML, or has a number that no record can hold; line and column are 0 if unknown."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.line, self.column = reason, line, column

    @property
    def place(self) -> str:
        """``:LINE`` or ``:LINE:COLUMN``, to be put after a file's name."""
        return "".join(f":{number}" for number in (self.line, self.column) if number)


def json_data(data: bytes | str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Parse JSON; ``pairs`` makes an object of its members. Raises NotParsed, also for NaN and too large numbers."""
    with _refusing():
        text = data if isinstance(data, str) else data.decode(json.detect_encoding(data))
        return json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=pairs)


def json_at(text: str, start: int) -> tuple[Any, int]:
    """Parse the JSON at a place of a text, line ends in strings allowed; return it and its end. Raises NotParsed."""
    with _refusing():
        return _LENIENT.raw_decode(text, start)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except json.JSONDecodeError as error:
        raise NotParsed(error.msg.lower(), error.lineno, error.colno) from error
    except UnicodeDecodeError as error:
        raise NotParsed("not UTF-8 text") from error
    except NotParsed:
        raise
    except ValueError as error:  # an integer of more than 4,300 digits
        raise NotParsed("a number with too many digits") from error
    except RecursionError as error:
        raise NotParsed("too deeply nested") from error


def _no_number(name: str) -> NoReturn:
    raise NotParsed(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotParsed("a number that is too large")
    return number


_LENIENT = json.JSONDecoder(strict=False, parse_constant=_no_number, parse_float=_finite)


def yaml_data(data: bytes | str, *, as_text: bool = False) -> Any:
    """Parse YAML into plain data, or every scalar ``as_text``. Raises NotParsed."""
    import yaml

    try:
        parsed = yaml.load(data, Loader=yaml.BaseLoader if as_text else yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = str(getattr(error, "problem", None) or error).partition("\n")[0]
        raise NotParsed(reason, mark.line + 1 if mark else 0) from error
    except RecursionError as error:
        raise NotParsed("too deeply nested") from error
    except Exception as error:  # PyYAML's own: AttributeError, KeyError, … for the values of tags and dates
        raise NotParsed(f"a value that cannot be read ({type(error).__name__})") from error
    _refuse_bombs(parsed)
    return parsed


def _refuse_bombs(data: Any) -> None:
    """Raise NotParsed for data that is in itself, has too many values, or a float that is no number."""
    waiting, count = [data], 0
    while waiting:
        value = waiting.pop()
        count += 1
        if count > MOST_VALUES:
            raise NotParsed("aliases that expand to millions of values")
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list | tuple | set):
            waiting += value
        elif isinstance(value, float) and not math.isfinite(value):
            raise NotParsed(f"{value} is not a number")

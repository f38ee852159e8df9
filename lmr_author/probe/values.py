"""Small values that are rebuilt by one constructor: dates, numbers, paths, dtypes, random generators.

Each is stored as its type's name and constructor arguments. :data:`ENCODERS` maps exact types to
functions that return those arguments; :data:`BUILDERS` maps names to functions that take them.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import random
import re
import sys
import uuid
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import flax_modules
from .jax_arrays import make_key

Encoded = Tuple[str, List[Any]]


class OmittedPart:
    """Stands where a part of an object was not recorded; any use of it says so."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise RuntimeError("this part of an object was not recorded (see 'omitted' in its recording)")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("this part of an object was not recorded (see 'omitted' in its recording)")


def _datetime(value: datetime.datetime) -> Encoded:
    parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
    return "datetime", [*parts, value.tzinfo, value.fold]


def _time(value: datetime.time) -> Encoded:
    return "time", [value.hour, value.minute, value.second, value.microsecond, value.tzinfo, value.fold]


def _timezone(value: datetime.timezone) -> Encoded:
    return "timezone", [value.utcoffset(None), value.tzname(None)]


def _make_timezone(offset: datetime.timedelta, name: str) -> datetime.timezone:
    plain = datetime.timezone(offset)
    return plain if plain.tzname(None) == name else datetime.timezone(offset, name)


def _path(value: pathlib.PurePath) -> Encoded:
    kind = "Path" if isinstance(value, pathlib.Path) else type(value).__name__
    return kind, [str(value)]


def _random(value: random.Random) -> Encoded:
    return "random.Random", [value.getstate()]


def _make_random(state: Any) -> random.Random:
    result = random.Random()
    result.setstate(state)
    return result


ENCODERS: Dict[type, Callable[[Any], Encoded]] = {
    datetime.datetime: _datetime,
    datetime.date: lambda v: ("date", [v.year, v.month, v.day]),
    datetime.time: _time,
    datetime.timedelta: lambda v: ("timedelta", [v.days, v.seconds, v.microseconds]),
    datetime.timezone: _timezone,
    decimal.Decimal: lambda v: ("Decimal", [str(v)]),
    fractions.Fraction: lambda v: ("Fraction", [v.numerator, v.denominator]),
    uuid.UUID: lambda v: ("UUID", [str(v)]),
    pathlib.PosixPath: _path,
    pathlib.WindowsPath: _path,
    pathlib.PurePosixPath: _path,
    pathlib.PureWindowsPath: _path,
    type(re.compile("")): lambda v: ("Pattern", [v.pattern, v.flags]),
    random.Random: _random,
}

MUTABLE = ("random.Random", "numpy.RandomState", "numpy.Generator", "torch.Generator", flax_modules.NAME)
"""Values with an identity: two names for one stay one."""


def _make_datetime(*args: Any) -> datetime.datetime:
    return datetime.datetime(*args[:8], fold=args[8])


def _make_time(*args: Any) -> datetime.time:
    return datetime.time(*args[:5], fold=args[5])


def _numpy_state(state: Dict[str, Any]) -> Any:
    import numpy

    bits = getattr(numpy.random, state["bit_generator"])()
    bits.state = state
    return bits


def _make_numpy_random(state: Dict[str, Any]) -> Any:
    import numpy

    result = numpy.random.RandomState()
    result.set_state(tuple(state["legacy"]))
    return result


def _make_numpy_generator(state: Dict[str, Any]) -> Any:
    import numpy

    return numpy.random.Generator(_numpy_state(state))


def _make_torch_generator(state: Any) -> Any:
    import torch

    result = torch.Generator(device="cpu")
    result.set_state(state)
    return result


def _torch_name(name: str) -> Any:
    import torch

    found = getattr(torch, name)
    if type(found).__name__ not in ("dtype", "layout", "memory_format"):
        raise ValueError("torch.%s is no type" % name)
    return found


def _make_torch(kind: str) -> Callable[[Any], Any]:
    def build(argument: Any) -> Any:
        import torch

        return getattr(torch, kind)(argument)

    return build


def _make_dtype(text: str) -> Any:
    import ast

    import numpy

    return numpy.dtype(ast.literal_eval(text) if text.startswith("[") else text)


def _make_timestamp(text: str, zone: Optional[str]) -> Any:
    import pandas

    return pandas.Timestamp(text, tz=zone) if zone else pandas.Timestamp(text)


BUILDERS: Dict[str, Callable[..., Any]] = {
    "datetime": _make_datetime,
    "date": datetime.date,
    "time": _make_time,
    "timedelta": datetime.timedelta,
    "timezone": _make_timezone,
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "UUID": uuid.UUID,
    "Path": pathlib.Path,
    "PurePosixPath": pathlib.PurePosixPath,
    "PureWindowsPath": pathlib.PureWindowsPath,
    "Pattern": re.compile,
    "random.Random": _make_random,
    "numpy.RandomState": _make_numpy_random,
    "numpy.Generator": _make_numpy_generator,
    "numpy.dtype": _make_dtype,
    "torch.Generator": _make_torch_generator,
    "torch.Size": _make_torch("Size"),
    "torch.device": _make_torch("device"),
    "torch.name": _torch_name,
    "pandas.Timestamp": _make_timestamp,
    "jax.key": make_key,
    flax_modules.NAME: flax_modules.make,
}


def describe(value: Any) -> Optional[Encoded]:
    """Name and constructor arguments of a small value, or None when it is none."""
    encoder = ENCODERS.get(type(value))
    if encoder is not None:
        return encoder(value)
    home = (getattr(type(value), "__module__", "") or "").partition(".")[0]
    if home == "torch":
        return _describe_torch(value)
    if home == "numpy":
        return _describe_numpy(value)
    if home == "pandas" and type(value).__name__ == "Timestamp":
        zone = str(value.tz) if value.tz is not None else None
        return "pandas.Timestamp", [value.tz_localize(None).isoformat(), zone]
    return flax_modules.describe(value)


def _describe_torch(value: Any) -> Optional[Encoded]:
    torch = sys.modules["torch"]
    if isinstance(value, torch.Size):
        return "torch.Size", [list(value)]
    if isinstance(value, torch.device):
        return "torch.device", [str(value)]
    if isinstance(value, (torch.dtype, torch.layout, getattr(torch, "memory_format", torch.dtype))):
        return "torch.name", [str(value).rpartition(".")[2]]
    if isinstance(value, torch.Generator) and value.device.type == "cpu":
        return "torch.Generator", [value.get_state()]
    return None


def _describe_numpy(value: Any) -> Optional[Encoded]:
    numpy: Any = sys.modules["numpy"]
    if isinstance(value, numpy.dtype) and value.metadata is None and value.kind not in "T":
        return "numpy.dtype", [repr(value.descr) if value.names else value.str]
    if type(value) is numpy.random.RandomState:
        return "numpy.RandomState", [{"legacy": list(value.get_state())}]
    if type(value) is getattr(numpy.random, "Generator", None):
        return "numpy.Generator", [value.bit_generator.state]
    return None

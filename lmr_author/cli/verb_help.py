"""The ``--help`` of a verb: usage, arguments, options, examples; no names of Python types."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any

from lmr_author.cli.render_text import coloured, paint

_VALUES = {"Path": "PATH", "int": "N", "float": "N", "str": "TEXT"}


def write_usage(params: Iterable[Any], ctx: Any, formatter: Any) -> None:
    """Write ``Usage: lmr-author mask [OPTIONS] [TARGET…]``."""
    words = [_argument(param) for param in params if param.param_type_name == "argument"]
    shown = [
        word if param.required else f"[{word}]" for word, param in zip(words, _arguments(params), strict=True)
    ]
    command = ["-- COMMAND…"] if ctx.allow_extra_args else []
    formatter.write_usage(ctx.command_path, " ".join(["[OPTIONS]", *shown, *command]))


def write_options(params: Iterable[Any], formatter: Any) -> None:
    """Write the arguments and the options, each with its default."""
    colour = coloured(sys.stdout)
    params = [param for param in params if not getattr(param, "hidden", False)]
    arguments = [(_argument(param), _help(param)) for param in _arguments(params)]
    options = [(_option(param), _help(param)) for param in params if param.param_type_name == "option"]
    for title, rows in (("Arguments", arguments), ("Options", options)):
        if rows:
            with formatter.section(paint("task", title, colour)):
                formatter.write_dl([(paint("note", name, colour), text) for name, text in rows])


def write_examples(verb: str, formatter: Any) -> None:
    """Write the examples of a verb, from ``examples.toml``."""
    examples = read_examples().get(verb, {})
    if examples:
        colour = coloured(sys.stdout)
        with formatter.section(paint("task", "Examples", colour)):
            for command, purpose in examples.items():
                formatter.write_text(paint("dim", f"# {purpose}", colour))
                formatter.write(
                    f"{' ' * formatter.current_indent}lmr-author {verb} {command}".rstrip() + "\n"
                )


def read_examples() -> dict[str, dict[str, str]]:
    """Return verb → arguments → purpose."""
    data: dict[str, dict[str, str]] = tomllib.loads(
        (Path(__file__).parent / "examples.toml").read_text("utf-8")
    )
    return data


def _arguments(params: Iterable[Any]) -> list[Any]:
    return [param for param in params if param.param_type_name == "argument"]


def _argument(param: Any) -> str:
    name = str(param.metavar or param.name.upper()).strip("[]….")
    return f"{name}…" if param.nargs == -1 else name


def _option(param: Any) -> str:
    names = ", ".join(sorted([*param.opts, *param.secondary_opts], key=len))
    value = "" if getattr(param, "is_flag", False) else param.metavar or _value(param)
    return f"{names} {value}".rstrip()


def _value(param: Any) -> str:
    kind = getattr(getattr(param, "type_descriptor", None), "annotation", str)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(member.value) for member in kind)
    return _VALUES.get(getattr(kind, "__name__", "str"), "TEXT")


def _help(param: Any) -> str:
    text = " ".join((param.help or "").split())
    default = getattr(param.default, "value", param.default)
    if getattr(param, "is_flag", False) or default in (None, "", ()) or callable(default):
        return text
    return f"{text} [default: {default:g}]" if isinstance(default, float) else f"{text} [default: {default}]"

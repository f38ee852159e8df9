"""Commands that are imported only when they run, and their ``--help``: usage, arguments, options, examples."""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from lmr_author.cli import ui
from lmr_author.cli.options import WHERE_OPTIONS, taking_where
from lmr_author.core.errors import UsageError
from lmr_author.core.texts import did_you_mean

SETTINGS: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "color": False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None,
}
ASKING = {
    "vet", "new-task", "mask", "unmask", "record", "challenge", "accept", "review", "report", "export", "judge",
}  # fmt: skip
_VALUES = {"Path": "PATH", "int": "N", "float": "N"}


def load(name: str, module: str, function: str, *, allow_extra_args: bool = False) -> Any:
    verb = _as_command(name, getattr(importlib.import_module(f"lmr_author.cli.{module}"), function))
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name, cls=Verb, context_settings={**SETTINGS, "allow_extra_args": allow_extra_args})(verb)
    return get_command(single)


def _as_command(name: str, verb: Callable[..., int]) -> Callable[..., int]:
    """Return a verb with the shared options: where code runs, and ``--no-input``.

    Typer reads the parameters from the signature, so the keyword ``where`` is exchanged there. Every verb takes
    ``--no-input``, so that a script need not know which of them ask.
    """
    own = inspect.signature(verb).parameters

    def run(*, no_input: bool, **given: Any) -> int:
        ui.allow_questions(not no_input)
        if "where" in own:
            given = taking_where(given)
        return verb(**given)

    # Where is only imported for type checkers: --help has to be fast.
    hints = get_type_hints(verb, {**verb.__globals__, "Where": object}, include_extras=True)
    option = typer.Option(
        "--no-input", help="Never ask; fail where an answer is missing.", hidden=name not in ASKING
    )
    parameters = []
    for each in [*own.values(), inspect.Parameter("no_input", inspect.Parameter.KEYWORD_ONLY, default=False)]:
        options = {each.name: (hints.get(each.name, Annotated[bool, option]), each.default)}
        for word, (annotation, default) in (WHERE_OPTIONS if each.name == "where" else options).items():
            parameters.append(inspect.Parameter(word, each.kind, default=default, annotation=annotation))
    run.__doc__ = verb.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


class Verb(TyperCommand):
    """A command with examples in its help; an option in place of a value is an error."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        arguments = [param for param in self.get_params(ctx) if param.param_type_name == "argument"]
        names = [written(param) if param.required else f"[{written(param)}]" for param in arguments]
        command = ["-- COMMAND…"] if ctx.allow_extra_args else []
        formatter.write_usage(ctx.command_path, " ".join(["[OPTIONS]", *names, *command]))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for title, params in by_heading(self.get_params(ctx)).items():
            _write_list(title, {written(param): described(param) for param in params}, formatter)
        examples = read_examples().get(ctx.command_path.removeprefix("lmr-author "), {})
        if examples:
            with formatter.section(typer.style("Examples", bold=True)):
                for words, purpose in examples.items():
                    formatter.write_text(typer.style(f"# {purpose}", dim=True))
                    formatter.write(f"  {ctx.command_path} {words}".rstrip() + "\n")

    def invoke(self, ctx: Any) -> Any:
        from lmr_author.core import locks  # not at the top: it costs --help an eighth of its time

        locks.on_wait = ui.show_wait
        return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse ``--comment --docstring TEXT``, which click reads as a comment that says ``--docstring``."""
        options: dict[str, Any] = {}
        for param in self.get_params(ctx):
            if param.param_type_name == "option":
                options |= dict.fromkeys(param.opts, param)
        words = iter(args)
        ctx.meta["words"] = list(args)
        for word in words:
            if word == "--":
                break
            option = options.get(word)
            if option is None or option.is_flag:
                continue
            value = next(words, "")
            if value in options:
                raise UsageError(
                    f"{word} needs a value, and the option {value} follows",
                    f"give the value first, or write {word}={value} if that is the value",
                )
        return super().parse_args(ctx, args)


class LazyGroup(TyperGroup):
    """A group of commands that knows their names and one line about each. Use :func:`group`."""

    sections: ClassVar[Mapping[str, Mapping[str, str]]]

    @staticmethod
    def load(name: str) -> Any:
        raise NotImplementedError

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for section in self.sections.values() for name in section]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        names = self.list_commands(ctx)
        if cmd_name in names:
            return self.load(cmd_name)
        close = difflib.get_close_matches(cmd_name, names, 2, 0.5)
        hint = did_you_mean(close, f"see {ctx.command_path} --help")
        raise UsageError(f"there is no command {cmd_name!r}", hint)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, commands in self.sections.items():
            _write_list(title, commands, formatter)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, "COMMAND [OPTIONS]")


def group(
    sections: Mapping[str, Mapping[str, str]],
    load_command: Callable[[str], Any],
    purpose: str,
    *,
    completion: bool = False,
) -> typer.Typer:
    """Return a Typer app of sections (title → command → purpose) whose commands are loaded when they run."""
    return typer.Typer(
        cls=type("Group", (LazyGroup,), {"sections": sections, "load": staticmethod(load_command)}),
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=completion,
        rich_markup_mode=None,
        context_settings=SETTINGS,
        help=purpose,
    )


def read_examples() -> dict[str, dict[str, str]]:
    import tomllib

    return tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))


def by_heading(params: Iterable[Any]) -> dict[str, list[Any]]:
    """Return heading → parameters: arguments, the verb's own options, and groups that several verbs have."""
    headings: dict[str, list[Any]] = {"Arguments": [], "Options": []}
    for param in params:
        if getattr(param, "hidden", False):
            continue
        usual = "Arguments" if param.param_type_name == "argument" else "Options"
        headings.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(param)
    return headings


def written(param: Any) -> str:
    """Return how a parameter is typed: ``TARGET…`` or ``--task, -t PATH``."""
    if param.param_type_name == "argument":
        name = str(param.metavar or param.name.upper()).strip("[]….")
        return f"{name}…" if param.nargs == -1 else name
    names = ", ".join(sorted([*param.opts, *param.secondary_opts], key=len))
    if getattr(param, "is_flag", False):
        return names
    kind = getattr(getattr(param, "type_descriptor", None), "annotation", str)
    if isinstance(kind, type) and issubclass(kind, Enum):
        value = "|".join(str(member.value) for member in kind)
    else:
        value = _VALUES.get(getattr(kind, "__name__", ""), "TEXT")
    return f"{names} {param.metavar or value}"


def described(param: Any) -> str:
    text = " ".join((param.help or "").split()) + (
        " Repeatable." if getattr(param, "multiple", False) else ""
    )
    default = getattr(param.default, "value", param.default)
    if getattr(param, "is_flag", False) or default in (None, "", ()) or callable(default):
        return text
    return f"{text} [default: {default:g}]" if isinstance(default, float) else f"{text} [default: {default}]"


def _write_list(title: str, rows: Mapping[str, str], formatter: Any) -> None:
    if rows:
        with formatter.section(typer.style(title, bold=True)):
            formatter.write_dl([(typer.style(name, fg="cyan"), text) for name, text in rows.items()])

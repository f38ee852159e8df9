"""Commands that are imported only when they are run: start-up pays for none of the others."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from lmr_author.cli import verb_help
from lmr_author.cli.render_text import coloured, paint
from lmr_author.errors import UsageError

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def load(name: str, function: str, **settings: Any) -> Any:
    """The click command ``name`` of the function of that name in the module ``lmr_author.cli.<function>``."""
    module = importlib.import_module(f"lmr_author.cli.{function}")
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name, cls=Verb, context_settings={**SETTINGS, **settings})(getattr(module, function))
    return get_command(single)


class Verb(TyperCommand):
    """A command with examples in its help, which refuses an option in place of a forgotten value."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage line."""
        verb_help.write_usage(self.get_params(ctx), ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options and examples."""
        verb_help.write_options(self.get_params(ctx), formatter)
        verb_help.write_examples(ctx.command_path.removeprefix("lmr-author "), formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse ``--draft-notes --docstring TEXT``, which click reads as a file named ``--docstring``."""
        options: dict[str, Any] = {
            name: item for item in self.get_params(ctx) for name in item.opts if name.startswith("-")
        }
        rest = iter(args)
        for word in rest:
            if word == "--":
                break
            option = options.get(word)
            if option is None or option.is_flag:
                continue
            value = next(rest, "")
            if value in options:
                raise UsageError(
                    f"{word} needs a value, and the option {value} follows",
                    f"give the value first, or write {word}={value} if that is the value",
                )
        return super().parse_args(ctx, args)


def group(name: str, cls: type[LazyGroup], help_: str, *, completion: bool = False) -> typer.Typer:
    """A Typer app whose commands are those of a lazy group; ``help_`` is what its ``--help`` says first."""
    return typer.Typer(
        name=name,
        cls=cls,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=completion,
        rich_markup_mode=None,
        context_settings=SETTINGS,
        help=help_,
    )


class LazyGroup(TyperGroup):
    """A group of commands that knows their names and one line about each.

    Attributes:
        sections: title → name of a command → its purpose, in the order of ``--help``.
        called: name of the group itself, for messages.
    """

    sections: ClassVar[Mapping[str, Mapping[str, str]]]
    called: ClassVar[str]

    @property
    def table(self) -> dict[str, str]:
        """Every command with its purpose."""
        return {name: purpose for section in self.sections.values() for name, purpose in section.items()}

    def load(self, name: str) -> Any:
        """The command ``name``, with all its options."""
        raise NotImplementedError

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands."""
        return list(self.table)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name."""
        if cmd_name in self.table:
            return self.load(cmd_name)
        close = difflib.get_close_matches(cmd_name, self.table, 2, 0.5)
        raise UsageError(
            f"there is no command {cmd_name!r}",
            f"did you mean {' or '.join(close)}?" if close else f"see {self.called} --help",
        )

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, without importing them."""
        colour = coloured(sys.stdout)
        for title, commands in self.sections.items():
            with formatter.section(paint("task", title, colour)):
                formatter.write_dl([(paint("note", name, colour), text) for name, text in commands.items()])

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage line."""
        formatter.write_usage(ctx.command_path, "COMMAND [OPTIONS]")

"""Commands that are imported only when they are run: start-up pays for none of the others."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from lmr_author.errors import UsageError

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def load(name: str, function: str, **settings: Any) -> Any:
    """The click command ``name`` of the function of that name in the module ``lmr_author.cli.<function>``."""
    module = importlib.import_module(f"lmr_author.cli.{function}")
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name, cls=Verb, context_settings={**SETTINGS, **settings})(getattr(module, function))
    return get_command(single)


class Verb(TyperCommand):
    """A command that does not take the next option for the value of one whose value was forgotten."""

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


def group(name: str, cls: type[LazyGroup], help_: str) -> typer.Typer:
    """A Typer app whose commands are those of a lazy group; ``help_`` is what its ``--help`` says first."""
    return typer.Typer(
        name=name,
        cls=cls,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
        context_settings=SETTINGS,
        help=help_,
    )


class LazyGroup(TyperGroup):
    """A group of commands that knows their names and one line about each.

    Attributes:
        table: name → what it does, in the order of ``--help``.
        called: how the group itself is called, for messages.
    """

    table: ClassVar[Mapping[str, str]]
    called: ClassVar[str]

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
        """The table of commands in ``--help``, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))

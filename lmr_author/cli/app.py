"""The command ``lmr-author``: one verb per file, imported when it is used; one error boundary."""

from __future__ import annotations

import difflib
import re
import signal
import sys
from typing import Annotated, Any

import typer
from typer import Option
from typer.main import get_command

from lmr_author import __version__
from lmr_author.cli.boundary import guarded, prepare_streams
from lmr_author.cli.commands import group, load
from lmr_author.core.errors import EXIT_INTERRUPTED, UsageError

SECTIONS = {
    "Author": {
        "demo": "Author a complete task from a bundled paper, offline.",
        "vet": "Vet a paper and its repository, with evidence.",
        "new-task": "Make a task folder from a paper and its repository.",
        "env": "Pin requirements, write the Dockerfile, build the image.",
        "suggest": "Rank the functions by how good a task each makes.",
        "mask": "Mask a function, keep the golden, clean the tree.",
        "set": "Change instruction, category, title, year and their like.",
        "unmask": "Restore masked functions byte for byte.",
        "record": "Record real calls as cases of a unit test.",
    },
    "Check": {
        "validate": "Find defects in tasks without running them.",
        "explain": "Explain a check or a gate.",
        "evaluate": "Prove by running that a task is sound.",
        "challenge": "Run misreadings, which must fail, and rewrites.",
        "accept": "Accept surviving mutants that are no mistakes.",
    },
    "Review": {
        "review": "Answer the checklist, sign off, decide disputes.",
        "status": "Show the state of each task and its next command.",
    },
    "Release": {
        "report": "Write a page about a task, or about all tasks.",
        "export": "Export finished tasks for agents and benchmarks.",
    },
    "Sets": {
        "make": "Make proven tasks from recipes, or write a task's recipe.",
        "draft": "Let a model write a recipe, until its task is sound.",
    },
    "Models": {
        "judge": "Judge models' answers by the unit tests, or by hand.",
        "analyze": "Make tables and figures from the results.",
    },
}
"""Every verb, in the order an annotator meets them. Its function is ``lmr_author.cli.<verb>.<verb>``."""

ENV_COMMANDS = {
    "lock": "Pin what the repository needs, and write the Dockerfile.",
    "build": "Build the image, record its content, import the goal file in it.",
    "local": "Make a virtual environment from the lock, for the local sandbox.",
}

VERBS = {name: purpose for section in SECTIONS.values() for name, purpose in section.items()}

MODULES = {"set": "set_fields", "unmask": "mask"}
"""Verbs whose function is in another module; ``set`` is Python's own name."""


def command(verb: str) -> Any:
    """Return the click command of a verb with all its options; for ``env`` the group of its commands."""
    if verb == "env":
        purpose = "The task's environment: requirements, lock, Dockerfile and image."
        made = group({"Commands": ENV_COMMANDS}, lambda name: load(name, "env", f"env_{name}"), purpose)
        # Without a callback Typer would make a single command of a group that has none yet.
        made.callback()(lambda: None)
        return get_command(made)
    function = "set_fields" if verb == "set" else verb.replace("-", "_")
    return load(verb, MODULES.get(verb, function), function, allow_extra_args=verb == "record")


app = group(
    SECTIONS,
    command,
    "Author LMR-Bench tasks: from a paper and its repository to a benchmark task proven by running.",
    completion=True,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lmr-author {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Global options."""


def main(arguments: list[str] | None = None) -> int:
    """Run the program and return its exit code. A user's mistake never shows a traceback."""
    prepare_streams()
    if arguments is None:
        # Libraries' destructors stumble over objects that Ctrl-C left half made; their tracebacks help nobody.
        sys.unraisablehook = lambda _: None
    # A plain `kill` ends a command as Ctrl-C does: containers are removed, nothing stays half-written.
    signal.signal(signal.SIGTERM, _interrupt)
    return guarded(lambda: run(sys.argv[1:] if arguments is None else arguments))


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; errors are raised."""
    # typer brings its own click in newer versions: its exception is found from one that typer exports.
    usage_errors: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")
    program: Any = app
    name = "lmr-author"
    if arguments and arguments[0] in VERBS:
        # Not by way of the group: typer loads pydantic to read the group's own options, also for a --help.
        program, name, arguments = command(arguments[0]), f"{name} {arguments[0]}", arguments[1:]
    try:
        result = program(args=arguments, prog_name=name, standalone_mode=False)
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except usage_errors as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            return int(error.exit_code)
        raise _usage_error(error, name, arguments) from error
    if result == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    return result if isinstance(result, int) else 0


def _usage_error(error: Any, verb: str, arguments: list[str]) -> UsageError:
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    message = message.split(" (Possible options:")[0].split(" Did you mean")[0]
    close = getattr(error, "possibilities", None)
    if typed := re.search(r"'([^']*)' is not one of (.*)", message):
        close = difflib.get_close_matches(typed[1].lower(), re.findall(r"'([^']+)'", typed[2]), 2, 0.5)
    if error.ctx:
        verb = error.ctx.command_path
    guess = f"did you mean {' or '.join(sorted(close)[:3])}? " if close else ""
    dashed = next((word for word in arguments if word.startswith("-") and "::" in word), "")
    if dashed and type(error).__name__ == "NoSuchOption":
        guess = f"a path that begins with a dash is written ./{dashed}; "
    extra = message.lower().startswith("got unexpected extra argument") and "::" not in message
    options = {name for option in error.ctx.command.params for name in option.opts} if error.ctx else set()
    if extra and "--paper" in options and any(word.endswith(".pdf") for word in arguments):
        guess = "the paper is named by --paper; "
    elif extra and "--task" in options:
        guess = "a task that is not the current folder is named by --task; "
    return UsageError(" ".join(f"{message[:1].lower()}{message[1:]}".split()), f"{guess}see {verb} --help")

"""``lmr-author env``: a group of commands, one file ``env_<name>.py`` each."""

from __future__ import annotations

from typing import Any, ClassVar

from typer.main import get_command

from lmr_author.cli.lazy import LazyGroup, group, load

COMMANDS = {
    "detect": "Say what a repository needs, each fact with the place it was read from.",
    "lock": "Pin what it needs as of the commit's date.",
    "dockerfile": "Write the Dockerfile.",
    "build": "Build the image, record what it holds, import the goal file in it.",
    "local": "Make a virtual environment from the lock, for the local sandbox.",
    "prune": "Remove images and environments that are ours and unused.",
}
"""Every command of the group, in the order in which they are used."""


class EnvCommands(LazyGroup):
    """The commands of ``env``. The function of each is ``lmr_author.cli.env_<name>.env_<name>``."""

    sections: ClassVar = {"Commands": COMMANDS}
    called = "lmr-author env"

    def load(self, name: str) -> Any:
        """The command ``name``, with all its options."""
        return load(name, f"env_{name}")


def env() -> Any:
    """The task's environment: what the repository needs, pinned; the Dockerfile; the image."""
    app = group("env", EnvCommands, str(env.__doc__))
    # Without a callback Typer would make a single command of a group that has none yet.
    app.callback()(lambda: None)
    return get_command(app)

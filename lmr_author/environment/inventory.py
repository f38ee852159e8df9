"""What an environment holds: asked of its own Python, never read from a tag."""

from __future__ import annotations

import json
from typing import Any

from lmr_author import resources
from lmr_author.errors import SandboxBuildError
from lmr_author.sandbox.base import Command, Limits, Sandbox
from lmr_author.staging import PROBE_ROOT, probe_mount

_SECONDS = 120


def ask(sandbox: Sandbox) -> dict[str, Any]:
    """``python``, ``platform``, ``packages`` and, where installed, ``torch``, ``cuda`` and ``numpy``.

    Raises SandboxBuildError when its Python cannot run the probe.
    """
    result = sandbox.run(
        Command(
            argv=("python", "-m", "lmr_probe", "facts"),
            mounts=(probe_mount(resources.probe_folder()),),
            env={"PYTHONPATH": PROBE_ROOT},
            limits=Limits(seconds=_SECONDS),
        )
    )
    try:
        facts = json.loads(result.stdout)
    except ValueError as error:
        said = result.stderr.decode("utf-8", "replace")[-300:]
        raise SandboxBuildError(
            f"the environment's Python cannot run the probe: {said}", "it needs Python 3.7 or newer"
        ) from error
    return dict(facts)

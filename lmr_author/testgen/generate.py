"""Write ``unit_test_N.py`` from a recording: short, readable, and it fails when it should."""

from __future__ import annotations

from lmr_author import resources
from lmr_author.model import Implementation
from lmr_author.recorded import CHECKERS, FIXTURES, SUPPORT, Recording
from lmr_author.taskdir import UNIT_TEST

TEMPLATE = "unit_test.py.j2"


def generate(implementation: Implementation, recording: Recording, nth: int = 0, compiled: str = "") -> str:
    """The text of an implementation's unit test. Pure: the same recording gives the same text.

    The test needs the standard library, what the repository needs, and the ``lmr_probe`` folder beside
    it. It runs under pytest and as a script from the repository's root, exits with 1 when a case
    differs, and writes the ``Passed``/``Failed`` line that LMR-Bench's scripts look for.

    Args:
        implementation: whose test it is.
        recording: its manifest.
        nth: which definition of the target's name is meant, where the file has several; else 0. A line
            would not do: it moves when another function of the file is masked.
        compiled: the case that is also run with the target as its decorators compile it; "" for none.
    """
    import jinja2

    more = f", nth={nth}" if nth else ""
    if FIXTURES in recording.helpers:
        more += f", fixtures=HERE / {FIXTURES!r}"
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False, trim_blocks=True
    )
    environment.filters["repr"] = repr
    template = environment.from_string(resources.template(TEMPLATE))
    return template.render(
        index=implementation.index,
        target=str(implementation.target),
        goal_file=recording.goal_file,
        qualname=recording.qualname,
        name=recording.qualname.rpartition(".")[2].strip("_") or "target",
        module=recording.module,
        sys_path=list(recording.sys_path),
        command=" ".join(recording.command).replace("\\", "\\\\").replace('"""', "'''"),
        cases=recording.cases,
        dict=dict,
        support=SUPPORT,
        folder=UNIT_TEST,
        more=more,
        compiled=compiled,
        custom=CHECKERS if CHECKERS in recording.helpers else "",
    )

"""Compiled functions of other names: a copy is the solution, a library's plain version of it is not."""

from __future__ import annotations

import textwrap

from lmr_author.checks.leak_files import compiled as compiled_file
from lmr_author.leaks import compiled
from lmr_author.leaks.fragments import parse
from tests.leaks.functions import wanted

MIXING = """\
        if number == depth:
            states = share * states + (1 - share) * others
"""
HEAD = "def forward(self, states, others, share, depth, mask=None):\n"
FORWARD = f"""{HEAD}\
    everything, weights = (), ()
    for number, layer in enumerate(self.layers):
        outputs = layer(states, mask)
        states = outputs[0]
{MIXING}\
        if self.keeps_states:
            everything = everything + (states,)
        if self.keeps_weights:
            weights = weights + (outputs[1],)
    return self.norm(states), everything, weights
"""
PLAIN = FORWARD.replace(MIXING, "").replace("others, share, depth, ", "")


def _in_class(name: str, source: str) -> str:
    return f"class {name}:\n{textwrap.indent(source, '    ')}"


def _copies(text: str) -> list[str]:
    """The functions of a text that are taken for the solution when only their compiled file is there."""
    codes = [
        compiled.code_of(parse(_in_class("Mixer", source).encode(), "mixer.py"))
        for source in (FORWARD, HEAD + "    raise NotImplementedError\n")
    ]
    looked_for = compiled.features(wanted(FORWARD, owner="Mixer"), *codes)
    assert looked_for is not None
    return [name for _, _, name in compiled.copies(compiled_file(text)(), [looked_for])]


def test_a_copy_under_another_name_is_the_solution() -> None:
    assert _copies(_in_class("Encoder", FORWARD)) == ["forward"]


def test_a_version_without_the_new_arguments_is_not() -> None:
    assert _copies(_in_class("Encoder", PLAIN)) == []

"""Compiled functions of other names: a copy is the solution, a library's plain version of it is not."""

from __future__ import annotations

import ast
import textwrap

from lmr_author.proof.leaks.fragments import parse
from lmr_author.proof.leaks.solution import compiled_names
from tests.example import compiled as compiled_file

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


def _share(text: str) -> float:
    """Return how much of the solution is in a text when only its compiled file is there."""
    golden, goal = (
        parse(_in_class("Mixer", source).encode(), "mixer.py")
        for source in (FORWARD, HEAD + "    raise NotImplementedError\n")
    )
    assert golden is not None
    (node,) = [item.node for item in golden.definitions if item.kind == "function"]
    assert not isinstance(node, ast.ClassDef)
    return compiled_names(golden, node, goal).share_in("other.pyc", compiled_file(text)())


def test_a_copy_under_another_name_is_the_solution() -> None:
    assert _share(_in_class("Encoder", FORWARD)) >= 0.9


def test_a_version_without_the_new_arguments_is_not() -> None:
    assert _share(_in_class("Encoder", PLAIN)) == 0.0

"""Mutants: every distinct wrong version of a function that the operators produce, with a stable id.

Versions with equal canonical forms are one: no test can distinguish them, or need not. Mutants with the golden's form
are dropped: they reveal nothing about a test and cost the annotator time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import takewhile

import libcst as cst

from lmr_author.core.code import Definition, Module
from lmr_author.proof.evaluation.mutants.equivalence import canonical_form, defaults_of, switched_off
from lmr_author.proof.evaluation.mutants.function import WORDS, Function
from lmr_author.proof.evaluation.mutants.operators import OPERATORS, MutantEdit


@dataclass(frozen=True)
class Mutant:
    """A wrong version of the golden.

    Attributes:
        id: eight hex digits, a digest of the change; stable while the target's source is.
        before, after: the differing lines of golden and mutant.
        parameter: the ignored parameter; "" for other operators.
    """

    id: str
    operator: str
    line: int
    before: str
    after: str
    data: bytes
    parameter: str = ""

    @property
    def diff(self) -> str:
        lines = [f"-{line}" for line in self.before.splitlines()]
        return "\n".join(lines + [f"+{line}" for line in self.after.splitlines()])


def mutants(
    golden: Module, target: Definition, most: int | None = None, differentiated: Collection[str] = ()
) -> tuple[Mutant, ...]:
    """Return wrong versions of a function, in line order; none if libcst cannot parse it.

    Args:
        most: limit; every operator and line keeps its share.
        differentiated: parameters whose gradients the test compares, for mutants that detach one.
    """
    try:
        code = Function(golden, target, differentiated)
    except (cst.ParserSyntaxError, RecursionError):
        return ()
    before, after = golden.data[: golden.byte_offset(code.start)], golden.data[golden.byte_offset(code.end) :]
    source = golden.text[golden.offset(code.ast.lineno, code.ast.col_offset) : code.end]
    defaults, off = defaults_of(golden.tree), switched_off(golden.tree)
    seen = {canonical_form(code.header + code.text, defaults, off)}
    made: list[Mutant] = []
    ids = set[str]()
    for name, edit in _edits(code):
        try:
            text = code.replaced(edit.old, edit.new)
        except cst.CSTValidationError:  # "return(x)" without its parentheses
            continue
        form = canonical_form(code.header + text, defaults, off)
        if form is None or form in seen:
            continue
        seen.add(form)
        old, new, above = _differing(code.text, text)
        line = code.ast.lineno + above if edit.old is code.node.body else code.line(edit.old)
        key = f"{target.qualname}\0{name}\0{line - target.line}\0{new}\0{source}"
        digest = _digest(key)
        if digest in ids:  # dropping two different arguments of one call can give equal text
            digest = _digest(f"{key}\0{text}")
        ids.add(digest)
        data = before + golden.encode(text) + after
        made.append(Mutant(digest, name, line, old, new, data, edit.parameter))
    made.sort(key=lambda mutant: mutant.line)
    return tuple(made if most is None else _thinned(made, most))


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _edits(code: Function) -> Iterator[tuple[str, MutantEdit]]:
    stack: list[cst.CSTNode] = [code.node]
    while stack:
        node = stack.pop()
        if not _is_skipped(node):
            for operator in OPERATORS:
                for edit in operator.edits(node, code):
                    yield operator.name, edit
            stack.extend(reversed(node.body.children if node is code.node else node.children))


def _is_skipped(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Expr):
        return isinstance(node.value, cst.BaseString) or Function.called(node.value) in WORDS["logging"]
    return isinstance(
        node, cst.Raise | cst.Assert | cst.Annotation | cst.Decorator | cst.BaseParenthesizableWhitespace
    )


def _differing(old: str, new: str) -> tuple[str, str, int]:
    """Return the differing lines of both texts, and the number of equal lines above."""
    before, after = old.splitlines(), new.splitlines()
    head = _count_equal(before, after)
    before, after = before[head:][::-1], after[head:][::-1]
    tail = _count_equal(before, after)
    return "\n".join(before[tail:][::-1]), "\n".join(after[tail:][::-1]), head


def _count_equal(before: list[str], after: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _thinned(mutants: list[Mutant], most: int) -> list[Mutant]:
    """Select ``most`` mutants in rounds: one per line, preferring the least-used operators."""
    if len(mutants) <= most:
        return mutants
    by_line: dict[int, list[Mutant]] = {}
    for mutant in mutants:
        by_line.setdefault(mutant.line, []).append(mutant)
    used: dict[str, int] = {}
    chosen: list[Mutant] = []
    while len(chosen) < most:
        for waiting in by_line.values():
            if waiting and len(chosen) < most:
                best = min(waiting, key=lambda mutant: used.get(mutant.operator, 0))
                waiting.remove(best)
                used[best.operator] = used.get(best.operator, 0) + 1
                chosen.append(best)
    return sorted(chosen, key=lambda mutant: mutant.line)

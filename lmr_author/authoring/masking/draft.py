"""Draft the words of a masked body. An annotator confirms, edits or drops them: nothing is silent.

A draft comes from what stays visible (name, signature, docstrings), except for the dependencies, which are names off
the golden. Steps are never drafted: they would be the answer.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

from lmr_author.authoring.masking.body import MaskNotes, one_line
from lmr_author.authoring.masking.docstrings import Documented, DocumentedParameter, read_docstring
from lmr_author.core import code
from lmr_author.proof.context import uses


def draft(module: code.Module, definition: code.Definition) -> MaskNotes:
    """Draft all parts of a function's notes; the docstring only when it has none and its purpose is known.

    Args:
        module, definition: the function, not masked.
    """
    owner = module.owner(definition)
    own, around = read_docstring(definition.docstring), read_docstring(owner.docstring if owner else None)
    summary = own.summary or _from_class(definition, around.summary)
    inputs, outputs = tuple(_inputs(definition, own, around)), _outputs(definition, own)
    inside, outside = used_names(module, definition)
    docstring = ""
    if definition.docstring is None and summary:
        title = "Yields" if code.is_generator(definition.function) else "Returns"
        returned = () if definition.name == "__init__" else outputs
        docstring = summary.rstrip(".") + "." + _section("Args", inputs) + _section(title, returned)
    return MaskNotes(summary, inputs, outputs, inside, outside, docstring=docstring)


def _section(title: str, entries: Sequence[str]) -> str:
    """Return a section of a docstring; "" for one without entries."""
    return "\n    ".join([f"\n\n{title}:", *entries]) if entries else ""


def _inputs(definition: code.Definition, own: Documented, around: Documented) -> Iterator[str]:
    """Yield each parameter with its type, default and description, as far as they are known."""
    defaults = {parameter.arg: default for parameter, default in code.parameters(definition.function.args)}
    for parameter in code.arguments(definition.function):
        name = parameter.arg
        if name == definition.receiver:
            continue
        entry = own.parameters.get(name) or around.parameters.get(name) or DocumentedParameter()
        facts = [_written(parameter.annotation) or entry.type]
        if default := defaults.get(name):
            facts.append(f"default {_written(default)}")
        head = f"{name} ({', '.join(filter(None, facts))})".removesuffix(" ()")
        yield f"{head}: {entry.text}" if entry.text else head


def _outputs(definition: code.Definition, own: Documented) -> tuple[str, ...]:
    annotation = _written(definition.function.returns)
    if own.returns:
        return own.returns
    return (annotation,) if annotation not in ("", "None", "NoReturn") else ()


def _written(node: ast.expr | None) -> str:
    """Return an expression as text, a quoted annotation without its quotes."""
    text = one_line(ast.unparse(node)) if node is not None else ""
    quoted = re.fullmatch(r"(['\"])([\w.\[\], |]+)\1", text)
    return quoted[2] if quoted else text


def _from_class(definition: code.Definition, about: str) -> str:
    """Return a summary of an undocumented constructor or forward pass, with what the docstring of its class says."""
    owner = definition.class_name.rpartition(".")[2]
    about = re.sub(r"^(A|An|The|This)\b", lambda match: match[0].lower(), about)
    end = f": {about}" if about else "."
    if definition.name == "__init__":
        return f"Initialize {'an' if owner[:1] in 'AEIOU' else 'a'} `{owner}`{end}"
    if owner and definition.name in ("forward", "__call__"):
        return f"Forward pass of `{owner}`{end}"
    return ""


# names off the golden


def used_names(module: code.Module, definition: code.Definition) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the same file, and the imports, that a body uses, in the order written.

    Names of the file are functions, classes, constants, ``self.x`` of the object, and what the functions around
    it bind. Imports are given as in ``torch.nn.functional as F`` and ``utils.get_local_dir``.
    """
    renamed = {alias.asname for node in code.each(module.tree, ast.Import) for alias in node.names}
    inside: dict[str, None] = {}
    outside: dict[str, None] = {}
    for use in uses(module, definition):
        root, _, rest = use.text.partition(".")
        if not use.is_in_body:
            continue
        if root == definition.receiver:
            attribute = rest.partition(".")[0]
            if attribute and not attribute.startswith("__"):
                inside[f"{root}.{attribute}"] = None
        elif use.imported:
            origin = use.imported.removesuffix(f".{rest}") if rest else use.imported
            is_plain = root in (origin, origin.rpartition(".")[2]) and root not in renamed
            outside[origin if is_plain else f"{origin} as {root}"] = None
        elif use.is_outer and not hasattr(builtins, root):
            inside[root] = None
    return tuple(inside), tuple(outside)

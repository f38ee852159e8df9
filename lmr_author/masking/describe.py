"""Drafts of what stands in a masked body. An annotator confirms, edits or drops them: nothing is silent.

A draft comes from what stays visible (name, signature, docstrings, comments above, callers), but for the
dependencies and the shapes of inputs, which are names off the golden. Steps are never drafted: they would be
the answer.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from lmr_author import source
from lmr_author.masking.callers import Call, calls_of
from lmr_author.masking.documented import Documented, documented, read_docstring, shape_in
from lmr_author.masking.notes import MaskNotes, one_line
from lmr_author.masking.shapes import shapes_of
from lmr_author.masking.uses import used_inside, used_outside

MAX_SUMMARY = 300
"""Longest summary taken over, in characters; a longer one is cut behind its first sentence."""


def draft(repository: Path, module: source.Module, definition: source.Definition) -> MaskNotes:
    """Drafts of all parts of a function's notes; the docstring only when it has none.

    Args:
        repository: the task's repository, in which callers are looked for.
        module, definition: the function, not masked.
    """
    own = documented(definition)
    around = _class_documented(module, definition)
    calls = calls_of(repository, module, definition)
    summary = own.summary or _comment_above(module, definition) or _from_name(definition, around)
    inputs = tuple(_inputs(module, definition, own, around, calls))
    outputs = _outputs(definition, own, calls)
    return MaskNotes(
        objective=_first_sentence(summary),
        inputs=inputs,
        outputs=outputs,
        dependencies=used_inside(module, definition),
        outside=used_outside(module, definition),
        docstring=""
        if definition.docstring is not None
        else _docstring(definition, summary, inputs, outputs),
    )


def _docstring(
    definition: source.Definition, summary: str, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> str:
    """A docstring in Google's style."""
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    parts = [_first_sentence(summary).rstrip(".") + "."]
    if inputs:
        parts.append("\n".join(["Args:", *(f"    {entry}" for entry in inputs)]))
    if outputs and definition.name != "__init__":
        title = "Yields:" if source.is_generator(node) else "Returns:"
        parts.append("\n".join([title, *(f"    {entry}" for entry in outputs)]))
    return "\n\n".join(parts)


def _inputs(
    module: source.Module,
    definition: source.Definition,
    own: Documented,
    around: Documented,
    calls: tuple[Call, ...],
) -> list[str]:
    shapes = shapes_of(module, definition)
    entries = []
    for name, annotation, default in _parameters(definition):
        said = own.parameters.get(name) or around.parameters.get(name)
        kind = annotation or (said.type if said else "")
        facts = ", ".join(part for part in (kind, f"default {default}" if default else "") if part)
        texts = [said.text] if said and said.text else []
        shape = shapes.get(name, "")
        if shape and not shape_in(" ".join([kind, *texts])):
            texts.append(f"shape {shape}")
        if not texts and not kind:
            texts += _example(name, default, calls)
        head = f"{name} ({facts})" if facts else name
        entries.append(f"{head}: {'; '.join(texts)}" if texts else head)
    return entries


def _outputs(definition: source.Definition, own: Documented, calls: tuple[Call, ...]) -> tuple[str, ...]:
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    annotation = ast.unparse(node.returns) if node.returns else ""
    if own.returns:
        plain = len(own.returns) == 1 and annotation and annotation not in own.returns[0]
        return (f"{annotation}: {own.returns[0]}",) if plain else own.returns
    if annotation in ("None", "NoReturn"):
        return ()
    unpacked = next((call for call in calls if len(call.results) > 1), None)
    if unpacked is not None:
        text = f"{len(unpacked.results)} values, unpacked as {', '.join(unpacked.results)}{_by(unpacked)}"
        return (f"{annotation}: {text}" if annotation else text,)
    return (annotation,) if annotation else ()


def _parameters(definition: source.Definition) -> list[tuple[str, str, str]]:
    """(name, annotation, default) of each parameter but ``self``, as written; "" where there is none."""
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    arguments = node.args
    pairs = source.parameters(arguments)
    static = any(ast.unparse(item) == "staticmethod" for item in node.decorator_list)
    if definition.class_name and "." not in definition.function_name and not static:
        pairs = pairs[1:] if arguments.posonlyargs or arguments.args else pairs
    pairs += [(item, None) for item in (arguments.vararg, arguments.kwarg) if item is not None]
    return [(item.arg, _source(item.annotation), one_line(_source(default))) for item, default in pairs]


def _source(node: ast.expr | None) -> str:
    if node is None:
        return ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isprintable():
        return node.value if re.fullmatch(r"[\w.\[\], |]+", node.value) and node.value else repr(node.value)
    return one_line(ast.unparse(node))


def _example(name: str, default: str, calls: tuple[Call, ...]) -> list[str]:
    for call in calls:
        text = call.arguments.get(name)
        if text and text != default:
            return [f"for example `{text}`{_by(call)}"]
    return []


def _by(call: Call) -> str:
    return f" in `{call.caller}`" if call.caller else f" in {call.path}"


def _class_documented(module: source.Module, definition: source.Definition) -> Documented:
    """The docstring of the class around a method: it often describes what ``__init__`` takes."""
    for item in module.definitions:
        if item.kind == "class" and item.qualname == definition.class_name and definition.class_name:
            return read_docstring(item.docstring)
    return Documented()


def _comment_above(module: source.Module, definition: source.Definition) -> str:
    """Comment lines directly above a function and its decorators, as one text; "" when there are none."""
    node = definition.node
    line = source.first_line(node) - 1
    texts: list[str] = []
    while line >= 1 and module.line_text(line).strip().startswith("#"):
        texts.insert(0, module.line_text(line).strip().lstrip("#!").strip())
        line -= 1
    text = one_line(" ".join(texts))
    says = re.search(r"[A-Za-z]{2,}", text) and not re.search(
        r"(coding[:=]|In ?\[|noqa|pragma|fmt:|type:)", text
    )
    return (
        text if says and not re.match(r"^[^\w]{0,3}(TODO|FIXME|Copyright|Licen[sc]e|Adapted)", text) else ""
    )


def _from_name(definition: source.Definition, around: Documented) -> str:
    """A summary from the name: `compute_loss` says "Compute loss"."""
    owner = definition.class_name.rpartition(".")[2]
    about = f": {around.summary[:1].lower()}{around.summary[1:]}" if around.summary else ""
    if definition.name == "__init__":
        return f"Initialise a {owner}{about}"
    if definition.name in ("forward", "__call__") and owner:
        return f"What a {owner} computes{about}"
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", definition.name).strip("_").split("_")
    return " ".join(filter(None, words)).capitalize()


def _first_sentence(text: str) -> str:
    if len(text) <= MAX_SUMMARY:
        return text
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]

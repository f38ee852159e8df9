"""Draft the words of a masked body. An annotator confirms, edits or drops them: nothing is silent.

A draft comes from what stays visible (name, signature, docstrings, comments above), except for the
dependencies and the shapes of inputs, which are names off the golden. Steps are never drafted: they would be
the answer.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from lmr_author import code
from lmr_author.checks import lookup
from lmr_author.code import scopes
from lmr_author.masking.docstrings import Documented, documented, read_docstring, sentences, shape_in
from lmr_author.masking.notes import MaskNotes, one_line

MAX_SUMMARY = 300
"""Longest summary taken over, in characters; of a longer one only the first sentence is."""
VERBS = frozenset(
    """
    accumulate add adjust aggregate align apply assign augment average backtrack batch bin build cache calculate clip
    collate collect combine compare compute concat convert copy count create crop decode detect drop embed encode
    estimate evaluate expand extract fetch fill filter find fit flatten format freeze fuse gather generate get group
    init initialize inject insert interpolate iterate learn load log make map mask match measure merge mix normalize
    optimize pack pad parse perturb plot pool predict prepare preprocess process project prune quantize rank read
    reduce remove render repeat replace rerank reset reshape resize restore rotate sample save scale score search
    select set shift shuffle smooth softmax sort split stack sum swap tokenize train transform truncate update validate
    warp weight wrap write
    """.split()  # noqa: SIM905
)
"""First words of a function's name that make a sentence of it: ``compute_loss``, but not ``cl_forward``."""
EINOPS = frozenset({"rearrange", "reduce", "repeat", "pack", "unpack", "parse_shape", "asnumpy"})


def draft(module: code.Module, definition: code.Definition) -> MaskNotes:
    """Draft all parts of a function's notes; the docstring only when it has none and its purpose is known.

    Args:
        module, definition: the function, not masked.
    """
    own, around = documented(definition), _class_documented(module, definition)
    summary = own.summary or _comment_above(module, definition) or _from_name(definition, around)
    summary = summary if len(summary) <= MAX_SUMMARY else sentences(summary)[0]
    inputs = tuple(_inputs(module, definition, own, around))
    outputs = _outputs(definition, own)
    inside, outside = used_names(module, definition)
    has_docstring = definition.docstring is not None or not summary
    docstring = "" if has_docstring else _docstring(definition, summary, inputs, outputs)
    return MaskNotes(summary, inputs, outputs, inside, outside, docstring=docstring)


def _docstring(
    definition: code.Definition, summary: str, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> str:
    """A docstring in Google's style."""
    parts = [summary.rstrip(".") + "."]
    if inputs:
        parts.append("\n".join(["Args:", *(f"    {entry}" for entry in inputs)]))
    if outputs and definition.name != "__init__":
        title = "Yields:" if code.is_generator(definition.function) else "Returns:"
        parts.append("\n".join([title, *(f"    {entry}" for entry in outputs)]))
    return "\n\n".join(parts)


def _inputs(
    module: code.Module, definition: code.Definition, own: Documented, around: Documented
) -> Iterator[str]:
    shapes = shapes_of(module, definition)
    for name, annotation, default in _parameters(definition):
        entry = own.parameters.get(name) or around.parameters.get(name)
        kind = annotation or (entry.type if entry else "")
        facts = ", ".join(part for part in (kind, f"default {default}" if default else "") if part)
        texts = [entry.text] if entry and entry.text else []
        shape = shapes.get(name, "")
        if shape and not shape_in(" ".join([kind, *texts])):
            texts.append(f"shape {shape}")
        head = f"{name} ({facts})" if facts else name
        yield f"{head}: {'; '.join(texts)}" if texts else head


def _outputs(definition: code.Definition, own: Documented) -> tuple[str, ...]:
    returns = definition.function.returns
    annotation = ast.unparse(returns) if returns else ""
    if own.returns:
        plain = len(own.returns) == 1 and annotation and annotation not in own.returns[0]
        return (f"{annotation}: {own.returns[0]}",) if plain else own.returns
    if annotation in ("None", "NoReturn"):
        return ()
    return (annotation,) if annotation else ()


def _parameters(definition: code.Definition) -> list[tuple[str, str, str]]:
    """(name, annotation, default) of each parameter but ``self``, as written; "" where there is none."""
    arguments = definition.function.args
    pairs = code.parameters(arguments)
    if _receiver(definition):
        pairs = pairs[1:]
    pairs += [(item, None) for item in (arguments.vararg, arguments.kwarg) if item is not None]
    return [(item.arg, _written(item.annotation), _written(default)) for item, default in pairs]


def _receiver(definition: code.Definition) -> str:
    """Return the name by which a method knows its object or class; "" for a plain function."""
    arguments = definition.function.args
    names = [*arguments.posonlyargs, *arguments.args]
    static = any(ast.unparse(item) == "staticmethod" for item in definition.node.decorator_list)
    is_method = definition.class_name and "." not in definition.function_name and not static
    return names[0].arg if is_method and names else ""


def _written(node: ast.expr | None) -> str:
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[\w.\[\], |]+", node.value)
    ):
        return node.value
    return one_line(ast.unparse(node)) if node is not None else ""


def _class_documented(module: code.Module, definition: code.Definition) -> Documented:
    """The docstring of the class around a method: it often describes what ``__init__`` takes."""
    for item in module.definitions:
        if item.kind == "class" and item.qualname == definition.class_name:
            return read_docstring(item.docstring)
    return Documented()


def _comment_above(module: code.Module, definition: code.Definition) -> str:
    """Comment lines directly above a function and its decorators, as one text; "" when there are none."""
    line = code.first_line(definition.node) - 1
    texts: list[str] = []
    while line >= 1 and module.line_text(line).strip().startswith("#"):
        texts.insert(0, module.line_text(line).strip().lstrip("#!").strip())
        line -= 1
    text = one_line(" ".join(texts))
    is_note = re.match(
        r"^[^\w]{0,3}(TODO|FIXME|Copyright|Licen[sc]e|Adapted)|.*(coding[:=]|In ?\[|noqa|pragma|fmt:|type:)",
        text,
    )
    return text if re.search(r"[A-Za-z]{2,}", text) and not is_note else ""


def _from_name(definition: code.Definition, around: Documented) -> str:
    """A summary from the name, where it makes one: `compute_loss` says "Compute loss."."""
    owner = definition.class_name.rpartition(".")[2]
    summary = re.sub(r"^(A|An|The|This)\b", lambda match: match[0].lower(), around.summary)
    about = f": {summary}" if summary else ""
    if definition.name == "__init__":
        return f"Initialize {'an' if owner[:1] in 'AEIOU' else 'a'} `{owner}`{about or '.'}"
    if definition.name in ("forward", "__call__") and owner:
        return f"Forward pass of `{owner}`{about or '.'}"
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", definition.name).strip("_").lower().split("_")
    return f"{' '.join(filter(None, words)).capitalize()}." if words[0] in VERBS and len(words) > 1 else ""


# names off the golden


def used_names(module: code.Module, definition: code.Definition) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the same file, and the imports, that a body uses, in the order written.

    Names of the file are functions, classes, constants, ``self.x`` of the object, and what the functions around
    it bind. Imports are given as in ``torch.nn.functional as F`` and ``utils.get_local_dir``.
    """
    node, object_name = definition.function, _receiver(definition)
    imported = {**imports_in(module.tree), **imports_in(node)}
    known = scopes.module_names(module) | scopes.enclosing_names(module, definition.qualname)
    known -= scopes.bound_names(node) | imported.keys() | {definition.name}
    inside: dict[str, None] = {}
    outside: dict[str, None] = {}
    loads = [item for statement in lookup.statements(node) for item in ast.walk(statement)]
    names = [
        item
        for item in loads
        if isinstance(item, ast.Name | ast.Attribute) and isinstance(item.ctx, ast.Load)
    ]
    for item in sorted(names, key=lambda item: (item.lineno, item.col_offset)):
        if isinstance(item, ast.Attribute):
            of_object = isinstance(item.value, ast.Name) and item.value.id == object_name
            if of_object and not item.attr.startswith("__"):
                inside[f"{object_name}.{item.attr}"] = None
        elif item.id in imported:
            outside[imported[item.id]] = None
        elif item.id in known and not hasattr(builtins, item.id):
            inside[item.id] = None
    return tuple(inside), tuple(outside)


def imports_in(tree: ast.AST) -> dict[str, str]:
    """Return the imports of a module (not of its functions) by the name that they bind."""
    found: dict[str, str] = {}
    stack = [tree]
    while stack:
        for node in ast.iter_child_nodes(stack.pop()):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    plain = alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
                    found[alias.asname or alias.name.partition(".")[0]] = plain
            elif isinstance(node, ast.ImportFrom):
                start = "." * node.level + (node.module + "." if node.module else "")
                for alias in node.names:
                    renamed = f" as {alias.asname}" if alias.asname not in (None, alias.name) else ""
                    found[alias.asname or alias.name] = f"{start}{alias.name}{renamed}"
            elif not isinstance(node, code.DefinitionNode | ast.expr):
                stack.append(node)
    return found


def shapes_of(module: code.Module, definition: code.Definition) -> dict[str, str]:
    """Return shapes by parameter as the source has them, as in ``(B, T, C)`` or ``b n (h d)``.

    Read from a comment beside the parameter, from ``b, n, _ = x.shape`` and from the left side of an einops
    pattern, as long as the parameter has not been assigned to before. The golden's other lines are not read.
    """
    node = definition.function
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    lines = [item.lineno for item in arguments]
    found: dict[str, str] = {}
    for item in arguments:
        shape = shape_in(_comment(module, item.end_lineno or item.lineno))
        if shape and lines.count(item.lineno) == 1:
            found[item.arg] = shape
    unknown = {item.arg for item in arguments} - found.keys()
    for statement in lookup.parts(lookup.statements(node)):
        if hasattr(statement, "body"):
            continue  # its parts come by themselves
        for name, shape in _shapes_in(module, statement):
            if name in unknown:
                found.setdefault(name, shape)
        names = [item for item in ast.walk(statement) if isinstance(item, ast.Name)]
        unknown -= {item.id for item in names if isinstance(item.ctx, ast.Store)} | found.keys()
    return found


def _comment(module: code.Module, line: int) -> str:
    text = module.line_text(line)
    return text.partition("#")[2].strip() if '"' not in text and "'" not in text else ""


def _shapes_in(module: code.Module, statement: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
        measured = re.fullmatch(r"(\w+)\.(?:shape|size\(\))", ast.unparse(statement.value))
        sizes = [_size(item) for item in statement.targets[0].elts]
        if measured and all(sizes):
            comment = _comment(module, statement.end_lineno or statement.lineno)
            shape = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
            yield measured[1], f"{shape}: {comment}" if comment else shape
    for call in ast.walk(statement):
        if (
            isinstance(call, ast.Call)
            and ast.unparse(call.func).rpartition(".")[2] in EINOPS
            and len(call.args) > 1
        ):
            tensor, pattern = call.args[:2]
            if (
                isinstance(tensor, ast.Name)
                and isinstance(pattern, ast.Constant)
                and isinstance(pattern.value, str)
            ):
                yield tensor.id, f"`{one_line(pattern.value.partition('->')[0])}`"


def _size(item: ast.expr) -> str:
    if isinstance(item, ast.Starred) or (isinstance(item, ast.Name) and set(item.id) == {"_"}):
        return "…"
    return item.id if isinstance(item, ast.Name) else ""

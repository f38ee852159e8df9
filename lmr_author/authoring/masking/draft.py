"""Draft the words of a masked body. An annotator confirms, edits or drops them: nothing is silent.

A draft comes from what stays visible (name, signature, docstrings), except for the dependencies and the shapes of
inputs, which are names off the golden. Steps are never drafted: they would be the answer.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from lmr_author.authoring.masking.notes import MaskNotes, one_line
from lmr_author.authoring.masking.uses import uses
from lmr_author.core import code


def draft(module: code.Module, definition: code.Definition) -> MaskNotes:
    """Draft all parts of a function's notes; the docstring only when it has none and its purpose is known.

    Args:
        module, definition: the function, not masked.
    """
    classes = [
        item for item in module.definitions if (item.kind, item.qualname) == ("class", definition.class_name)
    ]
    own, around = documented(definition), read_docstring(classes[0].docstring) if classes else Documented()
    summary = own.summary or _from_class(definition, around.summary)
    inputs, outputs = tuple(_inputs(definition, own, around)), _outputs(definition, own)
    inside, outside = used_names(module, definition)
    docstring = ""
    if definition.docstring is None and summary:
        parts = [summary.rstrip(".") + "."]
        if inputs:
            parts.append("\n".join(["Args:", *(f"    {entry}" for entry in inputs)]))
        if outputs and definition.name != "__init__":
            title = "Yields:" if code.is_generator(definition.function) else "Returns:"
            parts.append("\n".join([title, *(f"    {entry}" for entry in outputs)]))
        docstring = "\n\n".join(parts)
    return MaskNotes(summary, inputs, outputs, inside, outside, docstring=docstring)


def _inputs(definition: code.Definition, own: Documented, around: Documented) -> Iterator[str]:
    """Yield each parameter with its type, default, description and shape, as far as they are known."""
    arguments = definition.function.args
    pairs = code.parameters(arguments)[1 if _receiver(definition) else 0 :]
    pairs += [(item, None) for item in (arguments.vararg, arguments.kwarg) if item is not None]
    shapes = shapes_of(definition.function)
    for item, default in pairs:
        entry = own.parameters.get(item.arg) or around.parameters.get(item.arg) or DocumentedParameter()
        facts = [_written(item.annotation) or entry.type, f"default {_written(default)}" if default else ""]
        texts = [entry.text] if entry.text else []
        shape = shapes.get(item.arg, "")
        if shape and "shape" not in " ".join([facts[0], *texts]):
            texts.append(f"shape {shape}")
        head = item.arg + (f" ({', '.join(filter(None, facts))})" if any(facts) else "")
        yield f"{head}: {'; '.join(texts)}" if texts else head


def _outputs(definition: code.Definition, own: Documented) -> tuple[str, ...]:
    annotation = _written(definition.function.returns)
    if own.returns:
        plain = len(own.returns) == 1 and annotation and annotation not in own.returns[0]
        return (f"{annotation}: {own.returns[0]}",) if plain else own.returns
    return (annotation,) if annotation not in ("", "None", "NoReturn") else ()


def _receiver(definition: code.Definition) -> str:
    """Return the name by which a method knows its object or class; "" for a plain function."""
    arguments = definition.function.args
    names = [*arguments.posonlyargs, *arguments.args]
    static = any(ast.unparse(item) == "staticmethod" for item in definition.node.decorator_list)
    is_method = definition.class_name and "." not in definition.function_name and not static
    return names[0].arg if is_method and names else ""


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
    return f"Forward pass of `{owner}`{end}" if owner and definition.name in ("forward", "__call__") else ""


# names off the golden


def used_names(module: code.Module, definition: code.Definition) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the same file, and the imports, that a body uses, in the order written.

    Names of the file are functions, classes, constants, ``self.x`` of the object, and what the functions around
    it bind. Imports are given as in ``torch.nn.functional as F`` and ``utils.get_local_dir``.
    """
    object_name = _receiver(definition)
    renamed = {alias.asname for node in code.each(module.tree, ast.Import) for alias in node.names}
    inside: dict[str, None] = {}
    outside: dict[str, None] = {}
    for use in uses(module, definition):
        root, _, rest = use.text.partition(".")
        if use.role == "signature":
            continue
        if root == object_name:
            attribute = rest.partition(".")[0]
            if attribute and not attribute.startswith("__"):
                inside[f"{root}.{attribute}"] = None
        elif use.imported:
            origin = use.imported.removesuffix(f".{rest}") if rest else use.imported
            plain = root in (origin, origin.rpartition(".")[2]) and root not in renamed
            outside[origin if plain else f"{origin} as {root}"] = None
        elif use.outer and not hasattr(builtins, root):
            inside[root] = None
    return tuple(inside), tuple(outside)


def shapes_of(node: code.FunctionNode) -> dict[str, str]:
    """Return shapes by parameter, as in ``(B, T, C)``, from ``B, T, C = x.shape`` before ``x`` is assigned to."""
    unknown = {item.arg for item, _ in code.parameters(node.args)}
    found: dict[str, str] = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
            measured = re.fullmatch(r"(\w+)\.(?:shape|size\(\))", ast.unparse(statement.value))
            sizes = [ast.unparse(item) for item in statement.targets[0].elts]
            if measured and measured[1] in unknown and all(re.fullmatch(r"\*?\w+", size) for size in sizes):
                shown = ["…" if size.lstrip("*_") == "" or size[0] == "*" else size for size in sizes]
                found[measured[1]] = f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"
        names = [item for item in ast.walk(statement) if isinstance(item, ast.Name)]
        unknown -= {item.id for item in names if isinstance(item.ctx, ast.Store)} | found.keys()
    return found


# docstrings

_ROLE = re.compile(r":(?:py:)?(?!math)[a-z]+:`[~!]?([^`]+)`")
"""A role of Sphinx, ``:obj:`x```; its colons would be taken for the end of a parameter's name."""
_TITLE = re.compile(
    r"\s*(?:(?P<parameters>args|arguments|params?|parameters?|inputs?|keyword arg(?:ument)?s|other parameters)"
    r"|(?P<returns>returns?|outputs?|yields?)"
    r"|raises?|examples?|usage|shapes?|attributes|references?|notes?|warnings?|see also|todo|warns)"
    r"\s*(?P<colon>::?)?\s*",
    re.IGNORECASE,
)
_FIELD = re.compile(r"\s*[:@](?P<kind>param\w*|arg|type|returns?|rtype|yields?|raises?)\b(?P<name>[^:]*):")
_TYPE = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_ENTRY = re.compile(
    rf"[-*•\s`]*(?P<name>\*{{0,2}}[A-Za-z_]\w*)[`*]*\s*(?P<type>{_TYPE}|\[[^\]]*\])?\s*(?::|--)(?P<text>.*)"
)
_NO_PURPOSE = re.compile(
    r"""\W*(todo|fixme|xxx|hack|deprecated|@\w+|_?summary_?\b|docstring|>>>|```|copyright\b|licen[sc]ed?\b|author\b
    |c\)|created\ (on|by)\b|adapted\ from|(copied|taken|borrowed)\ (and\ \w+\ )?from|https?://|see\b|inherit|overrid
    |same\ as\ \S+$|from\ \S+$|refer\ to|not\ (yet\ )?(documented|implemented)|(not\ |un)used)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Beginnings of sentences that say nothing of what a function is for."""
_GENERIC = frozenset(
    """
    a an the this that it its is are be of for in to from with by on as at and or all any each given some which when
    forward pass step run runs call called every performed computation function method class module object main entry
    point init initialize constructor create helper utility implementation implement define defines perform do compute
    calculate get gets return result output input value data model layer use uses used
    """.split()  # noqa: SIM905
)
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|cf|vs|etc|resp|al|Eq|Fig|Sec|Tab|approx|w\.r\.t|[A-Z])\.$")


@dataclass(frozen=True)
class DocumentedParameter:
    """A parameter as a docstring has it: either part may be ""."""

    type: str = ""
    text: str = ""


@dataclass(frozen=True)
class Documented:
    """The content of a docstring.

    Attributes:
        summary: the purpose that its first paragraph names, on one line; "" when it names none.
        parameters: by name, in the docstring's order.
        returns: one line each.
    """

    summary: str = ""
    parameters: dict[str, DocumentedParameter] = field(default_factory=dict)
    returns: tuple[str, ...] = ()


def documented(definition: code.Definition) -> Documented:
    """Read the docstring of a function or class."""
    node = definition.node
    names = [] if isinstance(node, ast.ClassDef) else [item.arg for item, _ in code.parameters(node.args)]
    return read_docstring(definition.docstring, (definition.name, definition.class_name), names)


def read_docstring(
    text: str | None, own_names: Collection[str] = (), names: Collection[str] = ()
) -> Documented:
    """Read a docstring in Google, NumPy, reST or epydoc style.

    Args:
        own_names: of the function and its class; a summary of nothing but them is none.
        names: of its parameters; lines that begin with one of them are no summary.
    """
    parameters: dict[str, DocumentedParameter] = {}
    returns: list[str] = []
    first = ""
    for kind, block in _sections(_ROLE.sub(r"\1", inspect.cleandoc(text or "")).split("\n")):
        if kind == "summary":
            first = "\n".join(block).strip("\n").split("\n\n")[0]
        elif kind == "parameters":
            parameters.update(_parameters(block))
        elif kind == "returns":
            returns += _returns(block)
        elif kind == "field" and (found := _FIELD.match(block[0])):
            said = one_line(" ".join([block[0][found.end() :], *block[1:]]))
            *types, name = found["name"].split() or [""]
            name, known = name.lstrip("*"), parameters.get(name.lstrip("*"), DocumentedParameter())
            if found["kind"] == "type":
                parameters[name] = DocumentedParameter(said, known.text)
            elif found["kind"].startswith(("param", "arg")):
                parameters[name] = DocumentedParameter(" ".join(types) or known.type, said)
            elif found["kind"] == "rtype":
                returns[:1] = [f"{said}: {returns[0]}" if returns else said]
            elif found["kind"].startswith(("return", "yield")):
                returns[:1] = [f"{returns[0]}: {said}" if returns else said]
    return Documented(purpose(first, own_names, names), parameters, tuple(filter(None, returns)))


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (kind, lines) of a docstring's sections; of a field (``:param x:``) its own lines."""
    kind, block, title_width = "summary", list[str](), -1
    for number, line in enumerate(lines):
        title = _TITLE.fullmatch(line)
        ruled = number + 1 < len(lines) and re.fullmatch(r"\s*(-{3,}|={3,})\s*", lines[number + 1])
        new = ""
        if title and (title["colon"] or ruled):
            new = next((name for name in ("parameters", "returns") if title[name]), "other")
        elif _FIELD.match(line):
            new = "field"
        elif kind == "field" and not line.strip():
            new = "text"
        elif title_width >= 0 and any(map(_width, block)) and line.strip() and _width(line) <= title_width:
            new = "text"  # text behind a section that is indented
        if new:
            yield kind, block
            kind, block = new, [line] if new in ("field", "text") else []
            title_width = _width(line) if title and title["colon"] and not ruled else -1
        elif block or kind == "summary" or not re.fullmatch(r"\s*[-=]{3,}\s*", line):
            block.append(line)
    yield kind, block


def _items(block: list[str]) -> list[list[str]]:
    """Return the entries of a section: each begins at the section's own indentation."""
    filled = [line for line in block if line.strip()]
    margin = min(map(_width, filled), default=0)
    items: list[list[str]] = []
    for line in filled:
        if _width(line) == margin or not items:
            items.append([])
        items[-1].append(line)
    return items


def _parameters(block: list[str]) -> dict[str, DocumentedParameter]:
    found: dict[str, DocumentedParameter] = {}
    last = ""
    for first, *more in _items(block):
        entry = _ENTRY.match(first)
        text = one_line(" ".join([entry["text"] if entry else "", *more]))
        if entry and more and not entry["type"] and first[entry.start("text") - 2 :].startswith(" :"):
            last, kind, text = entry["name"], one_line(entry["text"]), one_line(" ".join(more))  # NumPy
        elif entry:
            last, kind = entry["name"], one_line(entry["type"] or "")[1:-1]
        elif re.fullmatch(r"\s*\*{0,2}\w+\s*", first) and more:
            last, kind = first.strip(), ""
        elif last:  # a line that was not indented goes on with the last entry
            known = found[last.lstrip("*")]
            kind, text = known.type, one_line(f"{known.text} {first} {text}")
        else:
            continue
        found[last.lstrip("*")] = DocumentedParameter(kind, text)
    return found


def _returns(block: list[str]) -> list[str]:
    found: list[str] = []
    for first, *more in _items(block):
        text, rest = one_line(first), one_line(" ".join(more))
        numpy = re.fullmatch(r"(\w+) : (.+)", text)
        if more and (numpy or (len(text.split()) < 4 and not text.endswith((".", ",", ":")))):
            head = f"{numpy[1]} ({numpy[2]})" if numpy else text
            found.append(f"{head}: {rest}")
        elif found and not _ENTRY.match(first) and not text.startswith(("-", "*")):
            found[-1] = one_line(f"{found[-1]} {text} {rest}")
        else:
            found.append(one_line(f"{text} {rest}").lstrip("-* "))
    return found


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def purpose(paragraph: str, own_names: Collection[str] = (), parameters: Collection[str] = ()) -> str:
    """Return what the first paragraph of a docstring says a function is for; "" when it says nothing.

    Args:
        own_names: of the function and its class: words that are in them say nothing more.
        parameters: names of what it takes; a line about one of them is no purpose.
    """
    known = {name.lower() for name in parameters}
    lines = []
    for line in paragraph.splitlines():
        entry = _ENTRY.match(line)
        if entry and (entry["name"].lower() in known or entry["type"]):
            break
        if _TITLE.fullmatch(line.partition(":")[0]):
            break
        if not re.fullmatch(r"[\W_]*", line):  # a rule of dashes
            lines.append(line)
    found = sentences(one_line(" ".join(lines)))
    text = " ".join(itertools.takewhile(lambda sentence: not _NO_PURPOSE.match(sentence), found))
    words = {word for word in _words(text) if len(word) > 1 and not word.isdigit()}
    return text if words - _GENERIC - {word for name in own_names for word in _words(name)} else ""


def sentences(text: str) -> list[str]:
    """Split a text on one line into its sentences."""
    found: list[str] = []
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\[(`\"'¿¡]|[^\x00-\x7f])", text):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += f" {part}"
        elif part:
            found.append(part)
    return found


def _words(text: str) -> list[str]:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", text)
    return re.findall(r"[^\W_]+", parted.lower())

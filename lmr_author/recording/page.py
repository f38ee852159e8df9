"""Write ``unit_test_N.py`` from a recording: a page that a reviewer reads, and that fails when it should."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from lmr_author import code, resources
from lmr_author.code import FunctionNode
from lmr_author.probe import compare
from lmr_author.probe.calling import GRADIENTS
from lmr_author.probe.document import FIELDS, Document, walk
from lmr_author.task import Implementation
from lmr_author.task.recording import CHECKERS, FIXTURES, SUPPORT, Case, Recording
from lmr_author.texts import printable, shortened

TEMPLATE, WITH_SUPPORT = "unit_test.py.j2", "unit_test_with_support.py.j2"
PLAIN_TAGS = {"tuple", "tensor", "array", "scalar"}
"""Nodes that the page reads by itself."""
PLAIN_DTYPES = {
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
}  # fmt: skip
HARMLESS = {"torch.no_grad()", "torch.no_grad", "torch.inference_mode()", "torch.enable_grad()"}
"""Decorators through which a function is called as it is without them, in the modes that were recorded."""
MODULES = ("objects", "decoding", "calling", "instrument", "shipped")
"""Modules of the probe that the support file is made of, in this order."""
ENTRIES = ("check", "Target", "use_cpu_for_cuda")
"""Names in it that tests use."""

Checkers = Mapping[str, Mapping[str, Any]]


def write_page(
    implementation: Implementation,
    recording: Recording,
    function: FunctionNode,
    documents: Sequence[tuple[Document, Document]],
    nth: int = 0,
) -> tuple[str, bool]:
    """Return the text of an implementation's unit test, and whether it needs the support file.

    The same recording gives the same text. The test runs under pytest and as a script from the repository's root, exits
    with 1 when a case differs, and writes the ``Passed``/``Failed`` line that LMR-Bench's scripts look for.

    Args:
        function: the target in the golden.
        documents: inputs and expected outcome of each case.
        nth: which definition of the target's name is meant, where the file has several; else 0. A line would not do: it
            moves when another function of the file is masked.
    """
    import jinja2

    checkers = {case.name: case.checkers for case in recording.cases}
    plain = not (nth or recording.cuda_as_cpu) and _is_plain(recording, function, documents, checkers)
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False, trim_blocks=True
    )
    environment.filters["repr"] = repr
    environment.globals["sorted"] = sorted
    nodes = [node for pair in documents for document in pair for _, node in walk(document.tree)]
    arrays = [
        node for node in nodes if isinstance(node, dict) and node.get("$") in ("tensor", "array", "scalar")
    ]
    usual, wider = _tolerances(documents, checkers)
    template = environment.from_string(resources.template(TEMPLATE if plain else WITH_SUPPORT))
    text = template.render(
        index=implementation.index,
        target=str(implementation.target),
        goal_file=recording.target.goal_file,
        qualname=recording.target.qualname,
        name=recording.target.qualname.rpartition(".")[2].strip("_") or "target",
        module=recording.module,
        sys_path=list(recording.sys_path),
        nth=nth,
        command=" ".join(recording.command).replace("\\", "\\\\").replace('"""', "'''"),
        cases=recording.cases,
        described=[_described(case) for case in recording.cases],
        torch=any(node["$"] == "tensor" for node in arrays),
        numpy=any(node["$"] != "tensor" for node in arrays),
        arrays=any(node["$"] == "array" for node in arrays),
        scalars=any(node["$"] == "scalar" for node in arrays),
        files=any("file" in node for node in arrays),
        has_numpy="numpy" in recording.versions,
        bits=any(node["dtype"] == "bfloat16" and "file" in node for node in arrays),
        tuples=any(isinstance(node, dict) and node.get("$") == "tuple" for node in nodes),
        tensors=any(isinstance(node, dict) and "$" in node for node in nodes),
        dicts=any(
            isinstance(node, dict) and "$" not in node
            for _, e in documents
            for _, node in list(walk(e.tree))[1:]
        ),
        grads=any("requires_grad" in node for node in arrays),
        floats=any(type(node) is float for _, e in documents for _, node in walk(e.tree)),
        raises=any("@raised" in e.tree for _, e in documents),
        no_grad=any("@mode" in i.tree for i, _ in documents),
        tolerances=usual,
        wider=wider,
        checkers=checkers,
        ignored=sorted(
            {path for each in checkers.values() for path, item in each.items() if item["kind"] == "ignore"}
        ),
        support=SUPPORT.removesuffix(".py"),
        fixtures=FIXTURES if FIXTURES in recording.helpers else "",
        custom=CHECKERS if CHECKERS in recording.helpers else "",
        cuda_as_cpu=recording.cuda_as_cpu,
    )
    return text, not plain


def _is_plain(
    recording: Recording,
    function: FunctionNode,
    documents: Iterable[tuple[Document, Document]],
    checkers: Mapping[str, Checkers],
) -> bool:
    """Tell whether the page needs no support file: plain values, and a function that is called by its name."""
    arguments = function.args
    by_name = not (
        arguments.posonlyargs or arguments.vararg or arguments.kwarg or "." in recording.target.qualname
    )
    harmless = all(ast.unparse(item) in HARMLESS for item in function.decorator_list)
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))
    if (
        not (by_name and harmless and recording.module)
        or yields
        or isinstance(function, ast.AsyncFunctionDef)
    ):
        return False
    given = {item.arg for item, _ in code.parameters(function.args)}
    for path, item in ((path, item) for each in checkers.values() for path, item in each.items()):
        if item["kind"] not in ("allclose", "exact") and not (item["kind"] == "ignore" and path in given):
            return False
    for inputs, expected in documents:
        if any(name[:1] == "@" and name != "@mode" for name in inputs.tree) or inputs.omitted:
            return False
        if any(name not in ("value", "@raised") and name not in inputs.tree for name in expected.tree):
            return False
        if inputs.tree.get("@mode", {"grad": False}) != {"grad": False}:
            return False
        trees = [{name: node for name, node in inputs.tree.items() if name != "@mode"}, expected.tree]
        if not all(_plain(node) for tree in trees for _, node in walk(tree)):
            return False
    return True


def _plain(node: Any) -> bool:
    if not isinstance(node, dict) or "$" not in node:
        return True
    if node["$"] not in PLAIN_TAGS or "id" in node:
        return False
    if node["$"] == "tuple":
        return True
    return node["dtype"] in PLAIN_DTYPES and not {"cls", "grad", "attrs"} & set(node)


def _tolerances(
    documents: Sequence[tuple[Document, Document]], checkers: Mapping[str, Checkers]
) -> tuple[dict[str, tuple[float, float]], dict[tuple[str, str], tuple[float, float]]]:
    """Return the tolerance that most parts of an element type have, and by case and path the other ones."""
    found: dict[tuple[str, str], tuple[str, tuple[float, float]]] = {}
    for (name, each), (_, expected) in zip(checkers.items(), documents, strict=True):
        nodes = dict(walk(expected.tree))
        for path, item in each.items():
            dtype = compare.dtype_of(nodes.get(path))
            if item["kind"] in ("allclose", "exact") and dtype in compare.FLOATS:
                found[name, path] = dtype, (item.get("rtol", 0.0), item.get("atol", 0.0))
    counts: dict[str, Counter[tuple[float, float]]] = {}
    for dtype, pair in found.values():
        counts.setdefault(dtype, Counter())[pair] += 1
    usual = {dtype: pairs.most_common(1)[0][0] for dtype, pairs in counts.items()}
    return usual, {key: pair for key, (dtype, pair) in found.items() if pair != usual[dtype]}


def _described(case: Case) -> str:
    """Write a case as an item of a list, with a comment."""
    adds = f": {case.adds}" if case.adds else ""
    return shortened(f"{case.name!r},  # {printable(f'call {case.call}{adds}')}", 112)


def support_file(cases: Iterable[tuple[Checkers, Document, Document]], *, cuda_as_cpu: bool = False) -> str:
    """Return the text of ``unit_test/lmr_support.py``: the probe's modules in one, without all that no case needs.

    Args:
        cases: how each case is compared, its inputs and its expected outcome.
        cuda_as_cpu: a test runs code that insists on a GPU.
    """
    tags, gradients = set[str](), False
    for _, *documents in cases:
        gradients = gradients or GRADIENTS in documents[0].tree
        nodes = (node for document in documents for _, node in walk(document.tree))
        tags |= {str(node["$"]) for node in nodes if isinstance(node, dict) and "$" in node}
    left_out = {f"_{tag}" for tag in FIELDS if tag not in tags and not (tag == "array" and "scalar" in tags)}
    left_out |= set() if tags & {"make", "table"} else {"_MAKERS"}
    left_out |= set() if gradients else {"gradients"}
    imports: list[ast.Import | ast.ImportFrom] = []
    bodies = []
    for name in (*MODULES, *(["cuda_as_cpu"] if cuda_as_cpu else [])):
        source = (resources.probe_folder() / f"{name}.py").read_text("utf-8")
        found = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
        bodies.append("\n".join(source.splitlines()[found[-1].end_lineno :]).strip())
        imports += [node for node in found if not getattr(node, "level", 0)]
    text = _without_unused("\n\n\n".join(bodies), left_out)
    names = ["Document", *(name for name in sorted(left_out) if re.search(rf"(?<![.\w]){name}\b", text))]
    stand_ins = "".join(f"{name}: Any = None\n" for name in names)
    head = '"""Reads recorded calls, makes them and compares their outcomes: copied by lmr-author, for its tests."""'
    future = "from __future__ import annotations"
    return f"{head}\n\n{future}\n\n{_used_imports(imports, text)}\n\n{stand_ins}\n\n{text}\n"


def _used_imports(imports: Iterable[ast.Import | ast.ImportFrom], text: str) -> str:
    """Return import statements for the names that occur in a text."""
    plain, grouped = set[str](), dict[str, set[str]]()
    for node in imports:
        for alias in node.names:
            if (
                not re.search(rf"\b{alias.name.partition('.')[0]}\b", text)
                or getattr(node, "module", "") == "__future__"
            ):
                continue
            if isinstance(node, ast.Import):
                plain.add(f"import {alias.name}")
            else:
                grouped.setdefault(str(node.module), set()).add(alias.name)
    lines = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(grouped.items())]
    return "\n".join([*sorted(plain), *lines])


def _without_unused(text: str, left_out: Collection[str]) -> str:
    """Leave out names that the entries do not need, and all but the first lines of docstrings.

    Args:
        left_out: functions and methods that are not needed either.
    """
    lines = text.splitlines()
    for item in sorted(ast.walk(ast.parse(text)), key=lambda item: -getattr(item, "lineno", 0)):
        if isinstance(item, ast.FunctionDef) and item.name in left_out:
            del lines[item.lineno - 1 : item.end_lineno]
    text = "\n".join(lines)
    module = ast.parse(text)
    kept: set[ast.stmt] = set()
    needed, waiting = set(left_out), list(ENTRIES)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            users = [node for node in module.body if name in _defined(node)]
            kept.update(users)
            waiting += [item.id for node in users for item in ast.walk(node) if isinstance(item, ast.Name)]
    for number in reversed(range(len(module.body))):
        node = module.body[number]
        if isinstance(node, ast.Expr) and module.body[number - 1] in kept:
            continue  # the docstring of a constant
        if node not in kept:
            first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]) - 1
            del lines[first : node.end_lineno]
            continue
        for item in sorted(ast.walk(node), key=lambda item: -getattr(item, "lineno", 0)):
            if isinstance(item, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(item):
                doc = item.body[0]
                if (doc.end_lineno or 0) > doc.lineno:
                    lines[doc.lineno - 1 : doc.end_lineno] = [lines[doc.lineno - 1] + '"""']
    return re.sub(r"\n\n+(?= )", "\n", re.sub(r"\n\n\n+", "\n\n", "\n".join(lines))).strip()


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a top-level statement defines; none for the docstring of a constant."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    return {
        item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }

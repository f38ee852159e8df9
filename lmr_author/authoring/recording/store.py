"""Put proven cases, their manifest, the unit test and its support file into the task.

The unit test is a page that a reviewer reads, and that fails when it should.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import __version__
from lmr_author.authoring.recording.checkers import compact, digests
from lmr_author.authoring.recording.choose import Proof
from lmr_author.authoring.recording.run import Recorded, RecordedCall, Run
from lmr_author.core import code, files, resources
from lmr_author.core.code import FunctionNode
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.core.task.recording import (
    CHECKERS,
    FIXTURES,
    MANIFEST,
    SUPPORT,
    Case,
    Coverage,
    RecordedTarget,
    Recording,
    load,
)
from lmr_author.core.texts import printable
from lmr_author.runtime.probe import compare
from lmr_author.runtime.probe.document import Document, walk
from lmr_author.runtime.replay import replaying

TEMPLATE, WITH_SUPPORT = "unit_test.py.j2", "unit_test_with_support.py.j2"
PLAIN_TAGS = {"tuple", "tensor", "array", "scalar"}
"""Nodes that the page reads by itself."""
PLAIN_DTYPES = {
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
}  # fmt: skip
HARMLESS = {"torch.no_grad()", "torch.no_grad", "torch.inference_mode()", "torch.enable_grad()"}
"""Decorators through which a function is called as it is without them, in the modes that were recorded."""
LINE = 116

Checkers = Mapping[str, Mapping[str, Any]]


def put_aside(task: Task, info: TaskInfo, implementation: Implementation) -> tuple[str, ...]:
    """Move an earlier recording and test to ``authoring/removed/``; nothing is overwritten."""
    earlier = (task.recording(info, implementation.index), task.unit_test(info, implementation))
    return tuple(task.put_aside(path) for path in earlier if path.exists())


def store(
    task: Task,
    info: TaskInfo,
    implementation: Implementation,
    plan: Run,
    recorded: Recorded,
    proof: Proof,
    function: FunctionNode,
    uncompared: Sequence[str] = (),
    options: Mapping[str, object] | None = None,
) -> Recording:
    """Write ``recordings/N/`` whole or not at all, then the test; neither must exist yet.

    Args:
        plan, recorded: the run that made it.
        proof: the chosen calls, in order, and the versions of what ran them.
        function: the target in the golden.
        uncompared: effects of the golden that no case compares, in words.
        options: those of ``record`` that were not as usual.
    """
    folder = task.recording(info, implementation.index)
    with files.staged_folder(folder) as staging:
        cases = [
            store_case(staging, number, call, proof.adds.get(call.number, ""))
            for number, call in enumerate(proof.chosen, 1)
        ]
        covered = recorded.coverage(frozenset().union(*(call.hits for call in proof.chosen)))
        recording = recording_of(staging, plan, recorded, cases, covered, proof.versions, options or {})
        page = write_manifest(staging, implementation, recording, function, plan.nth, uncompared)
    renew_support(task.unit_test_folder(info))
    files.write_text(task.unit_test(info, implementation), page)
    return load(folder) or recording


def recording_of(
    folder: Path,
    plan: Run,
    recorded: Recorded,
    cases: Sequence[Case],
    covered: Coverage,
    versions: Mapping[str, str],
    options: Mapping[str, object],
) -> Recording:
    """Return the manifest of cases that lie in a folder; nothing says yet whether its test needs the support file."""
    documents = _documents(folder, cases)
    checkers = [case.checkers for case in cases]
    return Recording(
        target=RecordedTarget(plan.goal_file, plan.qualname, plan.line),
        module=recorded.summary.module,
        sys_path=recorded.summary.sys_path,
        command=plan.driver.shown,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        tool=__version__,
        versions=versions,
        calls=recorded.summary.calls,
        coverage=covered,
        cases=tuple(cases),
        support={},
        helpers=digests(plan.helpers, [item for pair in documents for item in pair], checkers),
        cuda_as_cpu=plan.cuda_as_cpu,
        options=options,
    )


def write_manifest(
    folder: Path,
    implementation: Implementation,
    recording: Recording,
    function: FunctionNode,
    nth: int,
    uncompared: Sequence[str],
) -> str:
    """Write the manifest of cases that lie in a folder; return the text of their unit test."""
    documents = _documents(folder, recording.cases)
    page, needs_support = write_page(implementation, recording, function, documents, nth, uncompared)
    recording = replace(recording, support={SUPPORT: ""} if needs_support else {})
    files.write_json(folder / MANIFEST, recording.to_json())
    return page


def _documents(folder: Path, cases: Sequence[Case]) -> list[tuple[Document, Document]]:
    documents = []
    for case in cases:
        inputs = replaying.load_document(folder / case.name, "inputs")
        documents.append((inputs, replaying.load_document(folder / case.name, "expected")))
    return documents


def store_case(staging: Path, number: int, call: RecordedCall, adds: str = "") -> Case:
    """Copy what belongs to a case, nothing else that lies in the recorder's folder."""
    target = staging / f"case_{number}"
    target.mkdir()
    for path in call.folder.iterdir():
        if path.name.startswith(("inputs.", "expected.")) and path.is_file() and not path.is_symlink():
            files.write_bytes(target / path.name, path.read_bytes())
    stored = sorted(target.iterdir())
    return Case(
        name=target.name,
        call=call.number,
        bytes=sum(path.stat().st_size for path in stored),
        files={path.name: files.sha256_file(path) for path in stored},
        summary=call.summary,
        outcome=call.outcome,
        checkers=compact(call.checkers),
        omitted=call.omitted,
        adds=adds,
    )


def renew_support(unit_test: Path) -> None:
    """Write the support file, which all tests of a task share, or remove it where none needs it."""
    manifests = sorted((unit_test / "recordings").glob(f"*/{MANIFEST}"))
    recordings = {path: Recording.from_json(files.read_json(path)) for path in manifests}
    needing = {path: recording for path, recording in recordings.items() if recording.support}
    if not needing:
        (unit_test / SUPPORT).unlink(missing_ok=True)
        return
    files.write_text(unit_test / SUPPORT, resources.support_file())
    for path, recording in needing.items():
        support = {SUPPORT: resources.support_digest()}
        files.write_json(path, replace(recording, support=support).to_json())


# the unit test


def write_page(
    implementation: Implementation,
    recording: Recording,
    function: FunctionNode,
    documents: Sequence[tuple[Document, Document]],
    nth: int = 0,
    uncompared: Sequence[str] = (),
) -> tuple[str, bool]:
    """Return the text of an implementation's unit test, and whether it needs the support file.

    The same recording gives the same text. The test runs under pytest and as a script from the repository's root, exits
    with 1 when a case differs, and writes the ``Passed``/``Failed`` line that LMR-Bench's scripts look for.

    Args:
        function: the target in the golden.
        documents: inputs and expected outcome of each case.
        nth: which definition of the target's name is meant, where the file has several; else 0. A line would not do: it
            moves when another function of the file is masked.
        uncompared: effects of the calls that no case compares, in words.
    """
    import jinja2

    plain = not (nth or recording.cuda_as_cpu) and _is_plain(recording, function, documents)
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False, trim_blocks=True
    )
    environment.filters["repr"] = repr
    common = _common_checkers(recording.cases)
    cases = []
    for case in recording.cases:
        own = {path: checker for path, checker in case.checkers.items() if path not in common}
        cases.append((case.name, _comment(case), _lines(own, plain)))
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
        command=_in_docstring(" ".join(recording.command)),
        uncompared=[_in_docstring(printable(effect)) for effect in uncompared],
        everywhere=_lines(common, plain),
        cases=cases,
        has_numpy="numpy" in recording.versions,
        raises=any("@raised" in expected.tree for _, expected in documents),
        no_grad=any("@mode" in inputs.tree for inputs, _ in documents),
        **_features(documents),
        support=SUPPORT.removesuffix(".py"),
        fixtures=FIXTURES if FIXTURES in recording.helpers else "",
        custom=CHECKERS if CHECKERS in recording.helpers else "",
        cuda_as_cpu=recording.cuda_as_cpu,
    )
    return text, not plain


def _features(documents: Iterable[tuple[Document, Document]]) -> dict[str, bool]:
    """Return the kinds of values in some cases that a page needs code for."""
    nodes: list[dict[str, Any]] = []
    for inputs, expected in documents:
        nodes += [node for _, node in walk(inputs.tree) if isinstance(node, dict) and "$" in node]
        # The outcome itself is a dictionary, and none of the function's.
        nodes += [node for _, node in list(walk(expected.tree))[1:] if isinstance(node, dict)]
    tags = {node.get("$") for node in nodes}
    tensors = [node for node in nodes if node.get("$") in ("tensor", "array", "scalar")]
    in_files = [node for node in tensors if "file" in node]
    return {
        "torch": "tensor" in tags,
        "numpy": not tags.isdisjoint(("array", "scalar")),
        "scalars": "scalar" in tags,
        "files": bool(in_files),
        "bits": any(node["dtype"] == "bfloat16" for node in in_files),
        "tuples": "tuple" in tags,
        "tensors": bool(tags - {None}),
        "dicts": None in tags,
        "grads": any("requires_grad" in node for node in tensors),
    }


def _is_plain(
    recording: Recording, function: FunctionNode, documents: Iterable[tuple[Document, Document]]
) -> bool:
    """Tell whether the page needs no support file: plain values, and a function that is called by its name."""
    if not recording.module or not _is_plain_function(recording.target.qualname, function):
        return False
    given = {parameter.arg for parameter, _ in code.parameters(function.args)}
    for case, (inputs, expected) in zip(recording.cases, documents, strict=True):
        if not _are_plain_checkers(case.checkers, given):
            return False
        if not _is_plain_call(inputs, expected, grads_ignored=compare.GRADS in case.checkers):
            return False
    return True


def _is_plain_function(qualname: str, function: FunctionNode) -> bool:
    arguments = function.args
    if arguments.posonlyargs or arguments.vararg or arguments.kwarg or "." in qualname:
        return False
    if isinstance(function, ast.AsyncFunctionDef):
        return False
    if not all(ast.unparse(decorator) in HARMLESS for decorator in function.decorator_list):
        return False
    return not any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))


def _are_plain_checkers(checkers: Checkers, given: set[str]) -> bool:
    for path, checker in checkers.items():
        if checker["kind"] == "ignore" and (path in given or path == compare.GRADS):
            continue
        # Of an argument that changes, the page would not notice that it did not, if its tolerance allows for both.
        if checker.get("reason") == compare.CHOSEN and not path.startswith("value"):
            return False
        if checker["kind"] not in ("allclose", "exact"):
            return False
    return True


def _is_plain_call(inputs: Document, expected: Document, *, grads_ignored: bool) -> bool:
    if inputs.omitted or inputs.tree.get("@mode", {"grad": False}) != {"grad": False}:
        return False
    own = {name: node for name, node in inputs.tree.items() if name != "@mode"}
    if any(name.startswith("@") for name in own):
        return False
    if set(expected.tree) - {"value", "@raised", *own}:
        return False
    for tree in (own, expected.tree):
        for _, node in walk(tree):
            if not isinstance(node, dict) or "$" not in node:
                continue
            if not _is_plain_node(node) or ("requires_grad" in node and not grads_ignored):
                return False
    return True


def _is_plain_node(node: Mapping[str, Any]) -> bool:
    if node["$"] not in PLAIN_TAGS or "id" in node:
        return False
    if node["$"] == "tuple":
        return True
    return node["dtype"] in PLAIN_DTYPES and not {"cls", "grad", "attrs"} & set(node)


def _common_checkers(cases: Sequence[Case]) -> dict[str, Any]:
    """Return how parts are compared in every case alike; nothing where there is one case."""
    first, *others = [case.checkers for case in cases]
    common = {}
    for path, checker in first.items():
        if others and all(other.get(path) == checker for other in others):
            common[path] = checker
    return common


def _lines(checkers: Checkers, plain: bool) -> list[str]:
    """Write checkers as items of a dictionary, each with its reason."""
    lines = []
    for path, checker in checkers.items():
        ignored = checker["kind"] == "ignore"
        shown: Any = {name: setting for name, setting in checker.items() if name != "reason"}
        if plain:
            shown = None if ignored else (checker.get("rtol", 0), checker.get("atol", 0))
        words = ["not compared"] if ignored else []
        words += [_IN_WORDS.get(path, ""), str(checker.get("reason", ""))]
        note = ": ".join(word for word in words if word)
        lines.append(f"{path!r}: {shown!r},{_comment_after(note)}")
    return lines


_IN_WORDS = {compare.DEFAULT: "every float that is not named", compare.GRADS: ".grad of every tensor"}


def _in_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _comment(case: Case) -> str:
    adds = f": {case.adds}" if case.adds else ""
    return _comment_after(f"call {case.call}{adds}")


def _comment_after(text: str) -> str:
    """Write a comment, cut between words where it is long."""
    return f"  # {textwrap.shorten(printable(text), LINE - 16, placeholder=' …')}" if text else ""

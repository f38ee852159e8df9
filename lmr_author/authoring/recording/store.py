"""Put proven cases, their manifest, the unit test and its support file into the task.

The unit test is a page that a reviewer reads, and that fails when it should.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import __version__
from lmr_author.authoring.recording.checkers import compact, digests, nodes
from lmr_author.authoring.recording.choose import Proof
from lmr_author.authoring.recording.job import Job
from lmr_author.authoring.recording.run import Recorded, RecordedCall, Run
from lmr_author.core import code, files, resources
from lmr_author.core.code import FunctionNode
from lmr_author.core.task import Implementation
from lmr_author.core.task.recording import (
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
"""Kinds of values that the page reads by itself."""
ARRAYS = ("tensor", "array", "scalar")
SPECIAL = {"id", "cls", "grad", "attrs"}
"""Properties of values that the page does not read."""
PLAIN_MODE = {"grad": False}
PLAIN_DTYPES = {
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
}  # fmt: skip
HARMLESS = {"torch.no_grad()", "torch.no_grad", "torch.inference_mode()", "torch.enable_grad()"}
"""Decorators through which a function is called as it is without them, in the modes that were recorded."""
LINE = 116

Checkers = Mapping[str, Mapping[str, Any]]


def put_aside(job: Job) -> tuple[str, ...]:
    """Move an earlier recording and test to ``authoring/removed/``; nothing is overwritten."""
    task, info, implementation = job.task, job.info, job.implementation
    earlier = (task.recording(info, implementation.index), task.unit_test(info, implementation))
    return tuple(task.put_aside(path) for path in earlier if path.exists())


def store(plan: Run, recorded: Recorded, proof: Proof, uncompared: Sequence[str]) -> Recording:
    """Write ``recordings/N/`` whole or not at all, then the test; neither must exist yet.

    Args:
        plan, recorded: the run that made it.
        proof: the chosen calls, in order, and the versions of what ran them.
        uncompared: effects of the golden that no case compares, in words.
    """
    task, info, implementation = plan.job.task, plan.job.info, plan.job.implementation
    folder = task.recording(info, implementation.index)
    with files.staged_folder(folder) as staging:
        cases = [
            store_case(staging, number, call, proof.adds[call.number])
            for number, call in enumerate(proof.chosen, 1)
        ]
        covered = recorded.coverage(frozenset().union(*(call.hits for call in proof.chosen)))
        options = plan.job.options.unusual
        recording = recording_of(staging, plan, recorded, cases, covered, proof.versions, options)
        page = write_manifest(staging, plan, recording, uncompared)
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
    return Recording(
        target=RecordedTarget(plan.goal_file, plan.qualname, plan.definition.line),
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
        helpers=digests(plan.job.helpers, [document for pair in documents for document in pair]),
        cuda_as_cpu=plan.job.options.cuda_as_cpu,
        options=options,
    )


def write_manifest(folder: Path, plan: Run, recording: Recording, uncompared: Sequence[str]) -> str:
    """Write the manifest of cases that lie in a folder; return the text of their unit test."""
    documents = _documents(folder, recording.cases)
    function = plan.definition.function
    page, needs_support = write_page(
        plan.job.implementation, recording, function, documents, plan.nth, uncompared
    )
    recording = replace(recording, support={SUPPORT: ""} if needs_support else {})
    files.write_json(folder / MANIFEST, recording.to_json())
    return page


def _documents(folder: Path, cases: Sequence[Case]) -> list[tuple[Document, Document]]:
    load_document, folders = replaying.load_document, [folder / case.name for case in cases]
    return [(load_document(path, "inputs"), load_document(path, "expected")) for path in folders]


def store_case(staging: Path, number: int, call: RecordedCall, adds: str = "") -> Case:
    """Copy what belongs to a case, nothing else that lies in the recorder's folder."""
    target = staging / f"case_{number}"
    target.mkdir()
    for path in [*call.folder.glob("inputs.*"), *call.folder.glob("expected.*")]:
        if path.is_file() and not path.is_symlink():
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
    support = {SUPPORT: resources.support_digest()}
    is_needed = False
    for path in sorted((unit_test / "recordings").glob(f"*/{MANIFEST}")):
        recording = Recording.from_json(files.read_json(path))
        if recording.support:
            is_needed = True
            files.write_json(path, replace(recording, support=support).to_json())
    if is_needed:
        files.write_text(unit_test / SUPPORT, resources.support_file())
    else:
        (unit_test / SUPPORT).unlink(missing_ok=True)


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
        cuda_as_cpu=recording.cuda_as_cpu,
    )
    return text, not plain


def _features(documents: Sequence[tuple[Document, Document]]) -> dict[str, bool]:
    """Return the kinds of values in some cases that a page needs code for."""
    values = [node for pair in documents for document in pair for _, node in nodes(document.tree)]
    # The outcome itself is a dictionary, and none of the function's.
    expected = [node for _, document in documents for path, node in walk(document.tree) if path]
    tags = {node["$"] for node in values}
    arrays = [node for node in values if node["$"] in ARRAYS]
    in_files = [node for node in arrays if "file" in node]
    has_dicts = any(isinstance(node, dict) and "$" not in node for node in expected)
    return {
        "torch": "tensor" in tags,
        "numpy": not tags.isdisjoint(("array", "scalar")),
        "scalars": "scalar" in tags,
        "files": bool(in_files),
        "bits": any(node["dtype"] == "bfloat16" for node in in_files),
        "tuples": "tuple" in tags,
        "tensors": bool(tags),
        "dicts": has_dicts,
        "grads": any("requires_grad" in node for node in arrays),
    }


def _is_plain(
    recording: Recording, function: FunctionNode, documents: Sequence[tuple[Document, Document]]
) -> bool:
    """Tell whether the page needs no support file: plain values, and a function that is called by its name."""
    if not recording.module or "." in recording.target.qualname or not _is_plain_function(function):
        return False
    parameters = {parameter.arg for parameter, _ in code.parameters(function.args)}
    pairs = zip(recording.cases, documents, strict=True)
    return all(_is_plain_case(case.checkers, parameters, *documents) for case, documents in pairs)


def _is_plain_function(function: FunctionNode) -> bool:
    arguments = function.args
    decorators = set(map(ast.unparse, function.decorator_list))
    special = arguments.posonlyargs or arguments.vararg or arguments.kwarg or decorators - HARMLESS
    return not (special or isinstance(function, ast.AsyncFunctionDef) or code.is_generator(function))


def _is_plain_case(checkers: Checkers, parameters: set[str], inputs: Document, expected: Document) -> bool:
    """Tell whether a page reads a case's values and compares its outcome by itself."""
    names = inputs.tree.keys() - {"@mode"}
    values = [node for tree in (inputs.tree, expected.tree) for _, node in nodes(tree)]
    dtypes = {node["dtype"] for node in values if node["$"] in ARRAYS}
    # Where .grad is not compared, it does not matter that a tensor may have one.
    special = SPECIAL if compare.GRADS in checkers else SPECIAL | {"requires_grad"}
    obstacles = {
        *(name for name in names if name.startswith("@")),
        *(expected.tree.keys() - names - {"value", "@raised"}),
        *({node["$"] for node in values} - PLAIN_TAGS),
        *(dtypes - PLAIN_DTYPES),
        *special.intersection(set().union(*values)),
        *inputs.omitted,
    }
    has_mode = inputs.tree.get("@mode", PLAIN_MODE) != PLAIN_MODE
    return not (obstacles or has_mode) and all(
        _is_plain_checker(path, checker, parameters) for path, checker in checkers.items()
    )


def _is_plain_checker(path: str, checker: Mapping[str, Any], parameters: set[str]) -> bool:
    if checker["kind"] == "ignore":
        return path in parameters or path == compare.GRADS
    # Of an argument that changes, the page would not notice that it did not, if its tolerance allows for both.
    is_chosen = checker.get("reason") == compare.CHOSEN and not path.startswith("value")
    return checker["kind"] in ("allclose", "exact") and not is_chosen


def _common_checkers(cases: Sequence[Case]) -> dict[str, Any]:
    """Return how parts are compared in every case alike; nothing where there is one case."""
    first, *others = [case.checkers for case in cases]
    common = dict(first) if others else {}
    for other in others:
        common = {path: checker for path, checker in common.items() if other.get(path) == checker}
    return common


def _lines(checkers: Checkers, plain: bool) -> list[str]:
    """Write checkers as items of a dictionary, each with its reason."""
    lines = []
    for path, checker in checkers.items():
        ignored = checker["kind"] == "ignore"
        shown: Any = {**checker}
        reason = shown.pop("reason", "")
        if plain:
            shown = None if ignored else (checker.get("rtol", 0), checker.get("atol", 0))
        words = ("not compared" if ignored else "", _IN_WORDS.get(path, ""), reason)
        lines.append(f"{path!r}: {shown!r},{_comment_after(': '.join(filter(None, words)))}")
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

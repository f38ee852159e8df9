"""How an outcome is compared, where the annotator says so: ``value[0]=set``, ``value=text:rouge_l>=0.9``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lmr_author.errors import LmrError, UsageError
from lmr_author.probe import loose
from lmr_author.probe.document import Document, walk

KINDS = ("exact", "allclose", "set", "dataframe", "text", "custom", "ignore")
HINT = (
    "as in --check 'value[0]=set', 'value=allclose:1e-4,1e-6' (relative, absolute), 'value=text:rouge_l>=0.9', "
    "'value=dataframe' (rows in any order), 'value[2]=exact', 'value[3]=ignore', 'value=custom:NAME' (a function of "
    "unit_test/checkers.py)"
)
BERTSCORE = "bertscore"
_METRICS = "|".join(loose.METRICS)
_TEXT = re.compile(rf"^(?P<metric>{_METRICS})(?:\((?P<model>[\w./-]+)\))?>=(?P<needed>[01]?\.?\d+)$")
_GRADIENT = re.compile(r"@gradients\['(\w+)'\]")


def parse(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Path in the outcome → checker. Raises UsageError."""
    return dict(_one(text) for text in texts)


def _one(text: str) -> tuple[str, dict[str, Any]]:
    path, separator, spec = text.rpartition("=") if ">=" not in text else text.partition("=")
    kind, _, rest = spec.strip().partition(":")
    if not separator or not path.strip() or kind not in KINDS:
        raise UsageError(f"not a check: {text!r}", HINT)
    checker: dict[str, Any] = {"kind": kind}
    if kind == "allclose":
        numbers = [_number(item, text) for item in rest.split(",")] if rest else []
        if len(numbers) != 2:
            raise UsageError(f"allclose needs two tolerances: {text!r}", HINT)
        checker |= {"rtol": numbers[0], "atol": numbers[1]}
    elif kind == "text":
        match = _TEXT.match(rest)
        if match is None or (match["model"] and match["metric"] != BERTSCORE):
            raise UsageError(f"text needs a metric and how alike: {text!r}", HINT)
        checker |= {"metric": match["metric"], "at_least": float(match["needed"])}
        if match["metric"] == BERTSCORE:
            checker["model"] = match["model"] or loose.MODEL
    elif kind == "custom":
        if not rest.isidentifier():
            raise UsageError(f"custom needs the name of a function: {text!r}", HINT)
        checker |= {"function": rest}
    elif rest:
        raise UsageError(f"{kind} takes nothing: {text!r}", HINT)
    return path.strip(), checker


def check_extras(checks: Mapping[str, Mapping[str, Any]]) -> None:
    """What the checks take is installed. Raises LmrError."""
    if any(item.get("metric") == BERTSCORE for item in checks.values()) and not loose.bertscore_installed():
        raise LmrError(
            "BERTScore is an optional extra, and not installed", 'pip install "lmr-author[bertscore]"'
        )


def _number(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no tolerance in {whole!r}", HINT) from error
    if not 0 <= value < 1:
        raise UsageError(f"a tolerance of {text} would pass anything: {whole!r}", HINT)
    return value


def with_chosen(
    derived: Mapping[str, Mapping[str, Any]], checks: Mapping[str, Mapping[str, Any]], expected: Document
) -> dict[str, dict[str, Any]]:
    """The derived checkers of an outcome with those that were chosen; what is chosen for a part holds below it.

    Raises:
        LmrError: the outcome has no such part, or it is left unchecked altogether.
    """
    paths = {path for path, _ in walk(expected.tree)}
    unknown = [path for path in checks if path not in paths]
    if unknown:
        known = ", ".join(sorted(path for path in paths if path and not path.startswith("@"))[:12])
        raise LmrError(f"the outcome has no part {unknown[0]}", f"it has: {known}")
    replaced = {
        path for path, item in checks.items() if item["kind"] in ("exact", "allclose", "custom", "ignore")
    }
    kept = {
        path: dict(item)
        for path, item in derived.items()
        if not any(path == above or path.startswith((above + ".", above + "[")) for above in replaced)
    }
    others = [path for path in paths if "@" not in path and not path.startswith("value")]
    if checks.get("value", {}).get("kind") == "ignore" and not any(others):
        raise LmrError("nothing that the function returns would be checked", "leave out --check value=ignore")
    return kept | {path: {**item, **_tolerance(path, item, derived)} for path, item in checks.items()}


def differentiated(paths: Iterable[str]) -> frozenset[str]:
    """Return the parameters whose gradients are compared, by the paths of checkers."""
    return frozenset(name for path in paths for name in _GRADIENT.findall(path))


def _tolerance(
    path: str, checker: Mapping[str, Any], derived: Mapping[str, Mapping[str, Any]]
) -> dict[str, float]:
    """Where items are compared in any order, the widest tolerance of all of them: an item has no place of its own."""
    if checker["kind"] not in ("set", "dataframe"):
        return {}
    below = [item for name, item in derived.items() if name.startswith((path + ".", path + "["))]
    return {name: max(item[name] for item in below) for name in ("rtol", "atol")} if below else {}

"""Arguments from data files, as what drives the target: ``python -m lmr_probe.given REQUEST``.

Request: ``{"goal_file", "qualname", "files": [path, …], "map": {parameter: where}, "pickle": bool}``; run from the
repository's root, files relative to the request. A list of objects, or a table with a column for each parameter, is
one call each; anything else is one call.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import json
import os
import pickle
import sys
from typing import Any, Callable, Dict, Iterator, List, Set

from .examples import import_goal, seed, use_up


class Unusable(Exception):
    """A file that cannot be read, or does not fit the function. The message says what to do."""


def main(path: str) -> int:
    """Make the calls; returns the exit code, 1 when a file cannot be used or a call raised."""
    with open(path, encoding="utf-8") as file:
        request = json.load(file)
    base = os.path.dirname(os.path.abspath(path))
    sys.argv[:] = [request["goal_file"]]
    function: Any = import_goal(os.getcwd(), request["goal_file"])
    failed = 0
    try:
        for name in request["qualname"].split("."):
            function = getattr(function, name, None)
        if function is None or "self" in inspect.signature(function).parameters:
            raise Unusable("%s cannot be called by itself; use --from-example" % request["qualname"])
        for name in request["files"]:
            data = read(os.path.join(base, name), request["pickle"])
            for number, arguments in enumerate(calls(data, request["map"], function)):
                seed(number)
                try:
                    use_up(function(**arguments))
                except Exception as error:
                    failed += 1
                    print(
                        "%s, call %d: %s: %s"
                        % (os.path.basename(name), number + 1, type(error).__name__, error),
                        file=sys.stderr,
                    )
    except Unusable as error:
        print(error, file=sys.stderr)
        return 1
    return 1 if failed else 0


def calls(data: Any, places: Dict[str, str], function: Any) -> Iterator[Dict[str, Any]]:
    """The arguments of each call. Raises Unusable."""
    parameters = inspect.signature(function).parameters
    if not places and hasattr(data, "to_dict") and required(parameters) <= set(getattr(data, "columns", ())):
        data = data.to_dict("records")  # a table with a column for each parameter
    several = isinstance(data, list) and bool(data) and all(isinstance(item, dict) for item in data)
    any_name = any(item.kind is item.VAR_KEYWORD for item in parameters.values())
    for item in data if several else [data]:
        if places:
            yield {name: at(item, place) for name, place in places.items()}
            continue
        if isinstance(item, (list, tuple)):
            item = dict(zip(parameters, item))
        if not isinstance(item, dict):
            item = {next(iter(parameters)): item}
        chosen = {name: value for name, value in item.items() if name in parameters or any_name}
        missing = sorted(required(parameters) - set(chosen), key=list(parameters).index)
        if missing:
            raise Unusable(
                "the file says nothing about %s; it has: %s; add --map %s=WHERE"
                % (", ".join(missing), ", ".join(str(name) for name in item), missing[0])
            )
        yield chosen


def required(parameters: Any) -> Set[str]:
    """Names of the parameters that have no default."""
    return {
        name
        for name, one in parameters.items()
        if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    }


def at(data: Any, place: str) -> Any:
    """A part of some data: ``batch.ids``, ``0.text``, or ``.`` for all of it. Raises Unusable."""
    found = data
    for step in [] if place == "." else place.split("."):
        try:
            sequence = isinstance(found, (list, tuple))
            found = found[int(step)] if sequence else found[step]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise Unusable("there is no %s in the file (at %r)" % (place, step)) from error
    return found


def read(path: str, with_pickle: bool) -> Any:
    """The content of a file, by its ending. Code that it names is run only ``with_pickle``. Raises Unusable."""
    ending = os.path.splitext(path)[1].lower()
    reader = READERS.get(ending)
    if reader is None:
        if ending not in (".pkl", ".pickle"):
            raise Unusable("files %s are not read; %s are" % (ending, ", ".join(READERS)))
        if not with_pickle:
            raise Unusable(
                "a pickle runs what it likes when it is read: --allow-pickle lets it, in the sandbox"
            )
        with open(path, "rb") as file:
            return pickle.load(file)
    return reader(path, with_pickle)


def _torch(path: str, with_pickle: bool) -> Any:
    torch = importlib.import_module("torch")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if with_pickle:
            return torch.load(path, map_location="cpu", weights_only=False)
        raise Unusable(
            "%s holds more than tensors and plain values: --allow-pickle reads it, in the sandbox"
            % os.path.basename(path)
        ) from error


def _numpy(path: str, with_pickle: bool) -> Any:
    numpy = importlib.import_module("numpy")
    try:
        found = numpy.load(path, allow_pickle=with_pickle)
        return {name: found[name] for name in found.files} if hasattr(found, "files") else found
    except ValueError as error:
        raise Unusable(
            "%s: %s; --allow-pickle reads it, in the sandbox" % (os.path.basename(path), error)
        ) from error


def _json(path: str, with_pickle: bool) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _lines(path: str, with_pickle: bool) -> Any:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _table(path: str, with_pickle: bool) -> Any:
    """A DataFrame where there is pandas, else a list of rows."""
    separator = "\t" if path.endswith(".tsv") else ","
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        with open(path, encoding="utf-8", newline="") as file:
            rows: List[Any] = list(csv.DictReader(file, delimiter=separator))
        return rows
    return pandas.read_csv(path, sep=separator)


READERS: Dict[str, Callable[[str, bool], Any]] = {
    ".pt": _torch, ".pth": _torch, ".bin": _torch, ".npz": _numpy, ".npy": _numpy, ".json": _json,
    ".jsonl": _lines, ".csv": _table, ".tsv": _table,
}  # fmt: skip
"""Ending → reader."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""Results on the disk: a line each, written as soon as it is known, so that a killed run loses what was in flight."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.evaluation.candidates.score import Outcome, Result

RESULTS = "results.jsonl"

Key = tuple[str, int, str, int]


class Store:
    """``results.jsonl`` of a folder. Use :func:`opened`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab")
        self.results: dict[Key, Result] = {}

    def add(self, result: Result) -> None:
        """Append a result; it is on the disk when this returns."""
        self.results[result.key] = result
        line = json.dumps(result.to_json(), ensure_ascii=True) + "\n"
        self._file.write(line.encode("ascii"))
        self._file.flush()
        os.fsync(self._file.fileno())

    def judged(self, key: Key, digest: str) -> bool:
        """Whether this very candidate was judged before; a failure of the infrastructure is no judgement."""
        known = self.results.get(key)
        return (
            known is not None and known.digest == digest and known.score.outcome is not Outcome.INFRASTRUCTURE
        )

    def tidy(self, order: Sequence[Key]) -> None:
        """Rewrite the file with one line for each candidate, in the order of the predictions, others first."""
        known = [key for key in self.results if key not in set(order)] + [
            key for key in order if key in self.results
        ]
        lines = [json.dumps(self.results[key].to_json(), ensure_ascii=True) + "\n" for key in known]
        self._file.close()
        files.write_text(self._path, "".join(lines))
        self._file = self._path.open("ab")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """The results of a folder, to be added to; by one process at a time.

    Raises LmrError: another process writes there, or its file is not one of results.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise LmrError(
                f"another evaluation is writing to {folder}", "wait for it, or give another folder with --out"
            ) from error
        path = folder / RESULTS
        kept = _whole_lines(path)
        store = Store(path)
        store.results = {result.key: result for result in kept}
        try:
            yield store
        finally:
            store.close()


def load(path: Path) -> list[Result]:
    """The results in a file. Raises LmrError when a line is none."""
    found = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                found.append(Result.from_json(json.loads(line)))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise LmrError(
                    f"{path}:{number}: not a result ({type(error).__name__}: {error})",
                    "remove the line, or give another folder with --out",
                ) from error
    return found


def _whole_lines(path: Path) -> list[Result]:
    """The results in a file; a last line that was cut off when its writer was killed is removed."""
    if not path.is_file():
        return []
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        with path.open("r+b") as file:
            file.truncate(end)
    return load(path)

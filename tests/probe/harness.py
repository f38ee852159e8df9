"""Runs the probe as it is run inside an environment: by its path, in processes of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmr_author.runtime.probe import checking
from lmr_author.runtime.probe.compare import compare
from lmr_author.runtime.probe.document import Document
from tests.probe import forked
from tests.support import write_files

PROBE = Path(checking.__file__).parent


@dataclass
class Repository:
    """A small repository on disk, a recording of it, and replays of that.

    Attributes:
        with_torch: run it in processes that have PyTorch already.
    """

    root: Path
    goal_file: str
    qualname: str
    line: int = 0
    python: str = sys.executable
    with_torch: bool = False
    summary: dict[str, Any] = field(default_factory=dict)

    @property
    def out(self) -> Path:
        return self.root.parent / "out"

    def write(self, files: Mapping[str, str]) -> None:
        write_files(self.root, files)

    def record(self, *command: str, **config: Any) -> subprocess.CompletedProcess[bytes]:
        """Run a command under the recorder, from the repository's root."""
        self.out.mkdir(exist_ok=True)
        settings = {
            "tree": str(self.root),
            "goal_file": self.goal_file,
            "qualname": self.qualname,
            "line": self.line,
            "out": str(self.out),
            **config,
        }
        path = self.out / "config.json"
        path.write_text(json.dumps(settings))
        done = self._run("record", str(path), "--", *command)
        assert (self.out / "summary.json").is_file(), done.stderr.decode()
        self.summary = json.loads((self.out / "summary.json").read_text())
        return done

    @property
    def calls(self) -> list[str]:
        return sorted(path.name for path in (self.out / "calls").iterdir())

    def meta(self, call: str) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.out / "calls" / call / "meta.json").read_text())
        return data

    def value(self, call: str) -> Any:
        """Return the recorded ``value`` node of a call."""
        return self.load(call, "expected").tree["value"]

    def mutated(self, call: str) -> list[str]:
        """Return the arguments that a call changed."""
        return [name for name in self.load(call, "expected").tree if name in self.load(call, "inputs").tree]

    def missed(self) -> set[int]:
        """The blocks of the target that no kept call executed."""
        hit = {block for call in self.calls for block in self.meta(call)["hits"]}
        return {int(block) for block in self.summary["blocks"]} - hit

    def load(self, call: str, stem: str) -> Document:
        return checking.load(str(self.out / "calls" / call), stem)

    def replay(
        self,
        variants: Mapping[str, str | None] | None = None,
        preload: Sequence[str] = (),
        **request: Any,
    ) -> Replayed:
        """Replay every recorded call on versions of the goal file (None: as it stands in the tree)."""
        listed = []
        for name, text in (variants or {"golden": None}).items():
            source = None
            if text is not None:
                source = str(self.out / f"{name}.py")
                Path(source).write_text(text)
            listed.append({"id": name, "source": source, "line": None})
        whole = {
            "tree": str(self.root),
            "goal_file": self.goal_file,
            "qualname": self.qualname,
            "line": self.line,
            "module": self.summary["module"],
            "sys_path": self.summary["sys_path"],
            "inputs": str(self.out / "calls"),
            "cases": self.calls,
            "variants": listed,
            "case_seconds": 30,
            "preload": list(preload),
            **request,
        }
        path = self.out / "request.json"
        path.write_text(json.dumps(whole))
        done = self._run("replay", str(path))
        return Replayed(self, checking.read_frames(done.stdout), done)

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        words = [str(PROBE), *arguments]
        if self.with_torch:
            return forked.run(words, self.root)
        return subprocess.run([self.python, *words], cwd=self.root, capture_output=True, timeout=240)


@dataclass
class Replayed:
    """The messages of a replay."""

    repository: Repository
    frames: list[checking.Frame]
    process: subprocess.CompletedProcess[bytes]

    def headers(self, variant: str = "golden") -> dict[str, dict[str, Any]]:
        """Case → header."""
        return {
            item.header["case"]: item.header
            for item in self.frames
            if item.header["kind"] == "case" and item.header["variant"] == variant
        }

    def document(self, case: str, variant: str = "golden") -> Document:
        (found,) = [
            item
            for item in self.frames
            if item.header.get("case") == case and item.header.get("variant") == variant
        ]
        return checking.from_bytes(found.payload)

    def differences(self, variant: str = "golden", checkers: Any = None) -> list[str]:
        """Everything in which a variant differs from the recorded outcomes."""
        found = []
        for case, header in self.headers(variant).items():
            if header["status"] not in ("returned", "raised"):
                found.append(f"{case}: {header['status']}: {header['error']['message']}")
                continue
            expected = self.repository.load(case, "expected")
            found += [f"{case}: {item}" for item in compare(expected, self.document(case, variant), checkers)]
        return found

    def assert_same(self, variant: str = "golden", checkers: Any = None) -> None:
        """Every case ran, entered the target, and gave the recorded outcome."""
        assert self.frames[-1].header["kind"] == "end", self.process.stderr.decode()
        headers = self.headers(variant)
        assert sorted(headers) == self.repository.calls
        assert self.differences(variant, checkers) == [], self.process.stderr.decode()
        assert all(item["entered"] for item in headers.values())

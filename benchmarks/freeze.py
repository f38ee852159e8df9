"""Freeze what the installed lmr-author puts out, and compare two such states, one file for each subject.

    python benchmarks/freeze.py write DIR --tasks CORPUS --repositories GITFOLDERS --functions 2000 --kinds
    python benchmarks/freeze.py compare DIR_A DIR_B

``write`` runs the program of the interpreter that runs this script: old and new state are written with two interpreters
and one version of this file. CORPUS holds GROUP/CASE/TASK folders; the tasks of a case are validated together.
GITFOLDERS is a text file that lists bare git folders, one in a line. Everything goes through the command line except
the masks: ``mask_and_restore`` follows the interface.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lmr_author

ROOT = Path(lmr_author.__file__).resolve().parent.parent
EXAMPLE = ROOT / "tasks" / "1-rating-margin"
Subject = dict[str, Any]
"""The content of one file: name of an item → what the program put out for it (text, number or list)."""

DOCUMENTS = (
    "validate --format json",
    "validate --format sarif",
    "validate --format junit",
    "status --format json",
    "suggest --format json",
    "explain LMR502 --format json",
    "env detect --format json",
    "env dockerfile --dry-run",
    "env lock --dry-run --no-input",
    "vet --format json --offline --no-input",
    "review --format json --no-input --reviewer A.Reader",
    "evaluate --format json --sandbox local --mutants 5 --repeats 2",
)
"""Commands that are run in a copy of the example task."""

KEYS = ("code", "severity", "task", "implementation", "path", "pointer")
"""What places a finding."""

PASSING = ((r"uid 16\d+|\"(uid|peak_rss)\": \d+|\d+ MB at most", "<number>"),
           (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:?\d\d)?", "<time>"),
           (r'("[a-z_]*seconds": )[-+.\de]+', r"\1<seconds>"),
           (r'("(?:packages|platform|python)": )("[^"]*"|\{[^{}]*\})', r"\1<machine>"),
           (r'("(?:key|digest|fingerprint|sha256)": )"[0-9a-f]+"', r"\1<digest>"))  # fmt: skip
"""What differs between two runs of the same program."""


class Program:
    """The installed ``lmr-author``."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def run(self, folder: Path, *words: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of one command."""
        # -P: a repository may have modules named like those that the program imports.
        command = [sys.executable, "-P", "-m", "lmr_author", *words]
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
        return done.returncode, self.plain(done.stdout), self.plain(done.stderr)

    def plain(self, output: bytes) -> str:
        """A program's output without what changes from run to run."""
        text = output.decode("utf-8", "replace")
        for place, name in ((self.work, "<work>"), (ROOT, "<checkout>"), (Path(sys.prefix), "<python>")):
            text = text.replace(str(place), name)
        for pattern, name in PASSING:
            text = re.sub(pattern, name, text)
        return re.sub(r"<work>/[^/\s\"']+/", "<work>/", text)

    def answer(self, folder: Path, *words: str) -> list[str]:
        """Everything a command puts out, as lines."""
        code, out, err = self.run(folder, *words)
        return [f"exit {code}", *out.splitlines(), *(f"! {line}" for line in err.splitlines())]


def findings(program: Program, corpus: Path) -> tuple[Subject, Subject]:
    """Of each group of tasks: codes and places of the findings, and apart from them their words."""
    places: Subject = {}
    words: Subject = {}
    groups: dict[Path, list[str]] = {}
    for task in [*sorted(corpus.glob("*/*/*/")), EXAMPLE]:
        groups.setdefault(task.parent, []).append(task.name)
    for group, names in groups.items():
        name = str(group.relative_to(corpus)) if corpus in group.parents else group.name
        _, out, err = program.run(group, "validate", *names, "--format", "json", "--jobs", "1")
        try:
            report = json.loads(out)
        except ValueError:
            places[name] = words[name] = [out, err]
            continue
        found = [item for task in report["tasks"] for item in task["findings"]]
        properties = [item for task in report["tasks"] for item in task["properties"]]
        places[name] = sorted(" ".join(str(item.get(key) or "") for key in KEYS) for item in found)
        places[name] += [f"property {item['name']}: {item['holds']}" for item in properties]
        words[name] = sorted(f"{item['code']} {item['message']} | {item.get('hint', '')}" for item in found)
    return places, words


def helps(program: Program, *verbs: str) -> Iterator[tuple[str, Any]]:
    """``--help`` of a verb and of all verbs below it."""
    lines = program.answer(program.work, *verbs, "--help")
    yield " ".join(("lmr-author", *verbs)), lines
    names = re.findall(r"^  ([a-z][\w-]+) {2,}[A-Z]", "\n".join(lines), re.M)
    for name in names:
        yield from helps(program, *verbs, name)


def documents(program: Program) -> Iterator[tuple[str, Any]]:
    """What the commands print about the example task, and which files a bundle holds."""
    task = program.work / "documents" / EXAMPLE.name
    shutil.copytree(EXAMPLE, task)
    for command in DOCUMENTS:
        yield command, program.answer(task, *command.split())
    bundle = program.work / "bundle"
    yield (
        "export",
        program.answer(task, "export", ".", "--to", "agent", "--out", "../../bundle", "--unreviewed"),
    )
    files = [path for path in sorted(bundle.rglob("*")) if path.is_file()]
    yield (
        "bundle",
        [f"{path.relative_to(bundle)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files],
    )


def repositories(program: Program, listed: Path) -> tuple[Subject, Subject]:
    """Needs and Dockerfiles, and locks, of public repositories."""
    needs: Subject = {}
    locks: Subject = {}
    for line in listed.read_text("utf-8").split():
        bare = Path(line)
        name = (bare.parent if bare.name in ("repo", ".git") else bare).name
        folder = program.work / "clone" / name
        # A snapshot may lack its largest files: git then complains and checks the others out.
        subprocess.run(["git", "clone", "-q", line, folder], capture_output=True)
        if not folder.is_dir():
            continue
        for words in ("detect --format json", "dockerfile --dry-run"):
            needs[f"{name}: {words[:6]}"] = program.answer(folder, "env", *words.split(), "--repo", ".")
        locks[name] = program.answer(folder, "env", "lock", "--dry-run", "--no-input", "--repo", ".")
        print(f"{name}: {locks[name][0]}", file=sys.stderr, flush=True)
    return needs, locks


def mask_and_restore(data: bytes, name: str, qualname: str) -> tuple[bytes, bytes]:
    """A file with one function masked, and the file that unmasking gives."""
    from lmr_author.authoring.masking.body import mask_source, unmask_source
    from lmr_author.core import code
    from lmr_author.core.task import Target

    module = code.Module.parse(data, name)
    masked = mask_source(module, [code.find(module, Target(name, qualname))]).data
    return masked, unmask_source(module, code.Module.parse(masked, name), qualname)


def masks(count: int) -> Iterator[tuple[str, Any]]:
    """Digests of functions of the standard library masked, and whether unmasking restores the file."""
    library = Path(sysconfig.get_path("stdlib"))
    files = sorted(path for path in library.rglob("*.py") if "site-packages" not in path.parts)
    found = [(path, name) for path in files for name in functions(path)]
    for path, qualname in sorted(random.Random(3).sample(found, min(count, len(found)))):
        data, name = path.read_bytes(), str(path.relative_to(library))
        try:
            masked, restored = mask_and_restore(data, name, qualname)
            made = (
                f"{hashlib.sha256(masked).hexdigest()} {'restored' if restored == data else 'NOT RESTORED'}"
            )
        except Exception as error:
            made = f"{type(error).__name__}: {error}"
        yield f"{name}::{qualname}", made


def functions(path: Path) -> list[str]:
    """Qualified names of the functions and methods that a file defines once."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return []
    places: list[tuple[str, ast.Module | ast.ClassDef]] = [("", tree)]
    places += [(f"{node.name}.", node) for node in tree.body if isinstance(node, ast.ClassDef)]
    counted = Counter(
        prefix + node.name
        for prefix, owner in places
        for node in owner.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return [name for name, times in counted.items() if times == 1]


def kinds(work: Path) -> Iterator[tuple[str, Any]]:
    """The gates of the 17 kinds of targets, with the mutants made and killed, and those that survive."""
    command = [sys.executable, str(ROOT / "benchmarks" / "targets.py"), str(work / "kinds")]
    done = subprocess.run(command, capture_output=True, text=True)
    yield "exit", [done.returncode, *done.stderr.splitlines()]
    if done.returncode:
        return
    for item in json.loads((work / "kinds" / "local.json").read_text("utf-8")):
        survivors = [mutant["diff"] for mutant in item["detail"].get("survivors", ())]
        yield f"{item['implementation']} {item['gate']}", [item["status"], item["message"], *survivors]


def write(options: argparse.Namespace) -> None:
    """Run everything and store it."""
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)

    def store(name: str, subject: Subject) -> None:
        text = json.dumps(subject, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.json").write_text(text, "utf-8", "surrogateescape")
        print(f"{name}: {len(subject)} items", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary).resolve()
        os.environ |= {"LMR_AUTHOR_CACHE": str(work / "cache"), "COLUMNS": "100", "NO_COLOR": "1"}
        program = Program(work)
        store("help", dict(helps(program)))
        store("documents", dict(documents(program)))
        store("masks", dict(masks(options.functions)))
        if options.tasks:
            places, words = findings(program, options.tasks.resolve())
            store("findings", places)
            store("findings-words", words)
        if options.repositories:
            needs, locks = repositories(program, options.repositories)
            store("needs", needs)
            store("locks", locks)
        if options.kinds:
            store("kinds", dict(kinds(work)))


def compare(options: argparse.Namespace) -> None:
    """Print what differs, a subject at a time."""
    for path in sorted(options.old.glob("*.json")):
        if not (options.new / path.name).is_file():
            print(f"{path.stem}: not written")
            continue
        old, new = (json.loads((side / path.name).read_text("utf-8")) for side in (options.old, options.new))
        changed = [name for name in old | new if old.get(name) != new.get(name)]
        print(f"{path.stem}: {len(changed)} of {len(old)} items differ")
        for name in changed[: options.show]:
            print(f"  {name}")
            sides = (side.get(name, "(none)") for side in (old, new))
            before, after = (side if isinstance(side, list) else [side] for side in sides)
            lines = [f"    {line[:160]}" for line in difflib.ndiff(before, after) if line[0] in "-+"]
            print(*lines[:8], sep="\n")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    one = verbs.add_parser("write")
    one.add_argument("folder", type=Path)
    one.add_argument("--tasks", type=Path, help="folder of task folders to validate")
    one.add_argument("--repositories", type=Path, help="list of bare git folders")
    one.add_argument("--functions", type=int, default=2000, help="of the standard library to mask")
    one.add_argument("--kinds", action="store_true", help="record and evaluate the 17 kinds, too: slow")
    one.set_defaults(run=write)
    two = verbs.add_parser("compare")
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    two.add_argument("--show", type=int, default=5, help="changed items of a subject")
    two.set_defaults(run=compare)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()

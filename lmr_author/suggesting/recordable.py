"""Judge by its names whether a function's inputs can be recorded."""

from __future__ import annotations

import re

from lmr_author.indexing import Entry
from lmr_author.suggesting.criterion import Case, Criterion, Judgement


class Recordable(Criterion):
    """Its inputs can be stored and given to another implementation."""

    name = "recordable"
    ENTRY_POINTS = re.compile(r"main|cli(_main)?|run|train|evaluate|fit|launch|entry")
    UNSTORABLE = (
        (re.compile(r"data_?loader|(train|eval|test|val)_?(iter|loader)|\bloader\b", re.I), 0.5,
         "a data loader"),
        (re.compile(r"^(f|fp|fh|file|infile|outfile|stream|handle|writer|socket|session|conn)$", re.I), 0.5,
         "an open file or connection"),
        (re.compile(r"^(queue|lock|process|pool|rank|world_size|local_rank|gpu|gpus)$", re.I), 0.6,
         "processes or devices"),
        (re.compile(r"^(parser|argv)$|ArgumentParser", re.I), 0.4, "the command line"),
        (re.compile(r"^(trainer|engine|accelerator|callback)$", re.I), 0.6, "a trainer"),
        (re.compile(r"^(url|client|api_key)$", re.I), 0.5, "a network service"),
    )  # fmt: skip
    """Patterns of a parameter's name or annotation, the value, and what it takes."""
    BODY = (
        (frozenset({"parse_args", "ArgumentParser", "add_argument"}), 0.25, "reads the command line"),
        (frozenset({"all_reduce", "all_gather", "init_process_group", "barrier", "spawn"}), 0.6,
         "needs several processes"),
        (frozenset({"DataLoader", "load_dataset"}), 0.4, "loads data"),
        (frozenset({"open", "from_pretrained", "urlopen", "download", "savefig", "makedirs", "save"}), 0.6,
         "reads or writes files"),
    )  # fmt: skip
    """Names called in the body, the value, and what it does."""

    def judge(self, case: Case) -> Judgement:
        """The worst that its parameters, its body and its name say."""
        entry = case.entry
        found: list[tuple[float, str]] = []
        if self.ENTRY_POINTS.fullmatch(entry.name):
            found.append((0.3, "is a program's entry point"))
        for parameter in entry.parameters:
            name, _, annotation = parameter.lstrip("*").partition(": ")
            for pattern, value, what in self.UNSTORABLE:
                if pattern.search(name) or (annotation and pattern.search(annotation)):
                    found.append((value, f"takes {what} ({name})"))
        calls = frozenset(entry.calls)
        found += [(value, does) for names, value, does in self.BODY if names & calls]
        if entry.kind == "async":
            found.append((0.7, "is a coroutine"))
        if "r" not in entry.shape and not entry.class_name and not entry.generator and not _in_place(entry):
            found.append((0.6, "returns nothing"))
        if not found:
            return self.says(1.0, "its inputs look like values that can be recorded")
        value, reason = min(found)
        every = "; ".join(dict.fromkeys(text for _, text in sorted(found)))
        return self.says(value, f"hard to record: it {every}", reason)


def _in_place(entry: Entry) -> bool:
    """Recognize changes of tensors in place (``add_``), which are recorded as a return value is."""
    return any(name.endswith("_") and not name.startswith("_") for name in entry.calls)

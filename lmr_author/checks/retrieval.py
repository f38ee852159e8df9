"""LMR605: the paths of retrieval_context."""

from __future__ import annotations

from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.lookup import clean_path, did_you_mean, is_file, is_folder
from lmr_author.checks.target_files import leaves
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation


class RetrievalPaths(ImplementationCheck):
    """LMR605."""

    code = "LMR605"
    title = "the paths of retrieval_context exist in the repository"
    fixable = True
    rationale = (
        "These files are put into the prompt. One that is missing is silently left out, or stops the run."
    )
    failing = (
        Example("a missing file", implementation={"retrieval_context": ["ranking/trian.py"]}),
        Example("a path upwards", implementation={"retrieval_context": ["../golden_files/losses_golden.py"]}),
        Example("no text", implementation={"retrieval_context": [7]}),
    )
    passing = (
        Example("with the repository's folder", implementation={"retrieval_context": ["./ranking/train.py"]}),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each path."""
        position = view.position(implementation)
        if view.is_empty and implementation.retrieval_context:
            yield self.finding(
                view,
                f"retrieval_context {implementation.retrieval_context[0]!r:.100} does not exist: nothing is in the"
                " repository",
                "copy the repository",
                implementation=implementation,
                path="info.json",
                pointer=f"/implementations/{position}/retrieval_context",
            )
        if view.repository is None:
            return
        names = view.memo(
            "repository files",
            lambda: [view.in_repository(item) for item in view.repository_entries if item.kind == "file"],
        )
        for number, text in enumerate(implementation.retrieval_context):
            path = clean_path(text).partition("::")[0]
            plain = path.removeprefix(f"{view.repository.name}/")
            if path and leaves(view, view.repository, path):
                message, hint = (
                    f"retrieval_context {text!r:.100} does not stay inside the repository",
                    "write a path relative to the repository",
                )
            elif not path:
                message, hint = (
                    "retrieval_context has an entry that is no path",
                    "name a file of the repository",
                )
            elif any(
                is_file(view.repository / item) or is_folder(view.repository / item) for item in (path, plain)
            ):
                continue
            else:
                same = [name for name in names if name.rpartition("/")[2] == path.rpartition("/")[2]]
                message = f"retrieval_context {text!r:.100} does not exist"
                hint = (
                    f"did you mean {same[0]}?"
                    if same
                    else did_you_mean(path, names) or "name a file of the repository"
                )
            yield self.finding(
                view,
                message,
                hint,
                implementation=implementation,
                path="info.json",
                pointer=f"/implementations/{position}/retrieval_context/{number}",
            )

"""LMR201, 202, 204–206, 208, 209: what the image is built from and what is copied into it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Check, Content, Example
from lmr_author.checks.dockerfile import Dockerfile
from lmr_author.checks.example_task import DOCKERFILE
from lmr_author.checks.lookup import did_you_mean
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity

IGNORE = ".dockerignore"


def changed(old: str, new: str) -> dict[str, Content]:
    """The change of one piece of the good Dockerfile."""
    assert old in DOCKERFILE
    return {"Dockerfile": DOCKERFILE.replace(old, new)}


class DockerfileExists(Check):
    """LMR201."""

    code = "LMR201"
    title = "there is a Dockerfile with a base image"
    rationale = "A task without an environment cannot be run by anybody else."
    failing = (
        Example("no Dockerfile", files={"Dockerfile": None}),
        Example("an empty one", files={"Dockerfile": "\n"}),
        Example("without FROM", files={"Dockerfile": "RUN pip install numpy==1.26.4\nCOPY . .\n"}),
    )
    passing = (Example("the good Dockerfile"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """At most one finding."""
        parsed = dockerfile.read(view)
        hint = "write one; a task made by `lmr-author new-task` has one to go by"
        if parsed is None:
            elsewhere = [
                entry
                for entry in view.entries
                if entry.kind == "file" and entry.name.lower() in ("dockerfile", "dockerfile.txt")
            ]
            close = f"move {elsewhere[0].relative} to Dockerfile" if elsewhere else hint
            large = any(entry.relative == "Dockerfile" and entry.kind == "file" for entry in view.entries)
            message = "the Dockerfile is too large to be one" if large else "the Dockerfile is missing"
            yield self.finding(view, message, hint if large else close, path="Dockerfile")
        elif not parsed.named("FROM"):
            yield self.finding(view, "the Dockerfile has no FROM", hint, path="Dockerfile")


class DockerCheck(Check):
    """A check that reads a Dockerfile that has a base image (LMR201 says when there is none)."""

    def run(self, view: TaskView) -> Iterator[Finding]:
        """Run :meth:`run_file` on the Dockerfile."""
        parsed = dockerfile.read(view)
        if parsed is not None and parsed.named("FROM"):
            yield from self.run_file(view, parsed)

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """Yield what is wrong with the Dockerfile."""
        raise NotImplementedError

    def at(
        self, view: TaskView, line: int, message: str, hint: str, severity: Severity | None = None
    ) -> Finding:
        """A finding at a line of the Dockerfile."""
        return self.finding(
            view, message, hint, path="Dockerfile", pointer=f"L{line}" if line else "", severity=severity
        )


class NoGoldenInImage(DockerCheck):
    """LMR202."""

    code = "LMR202"
    title = "the image holds no goldens and no authoring records"
    rationale = (
        "The agent works inside the image. `COPY . .` at the task's root puts the solution beside the"
        " exercise."
    )
    failing = (
        Example("COPY . .", files={**changed("${DIR} /workspace/${DIR}", ". /workspace/"), IGNORE: ""}),
        Example(
            "the goldens by name",
            files={**changed("USER agent", "COPY golden_files /golden\nUSER agent"), IGNORE: ""},
        ),
    )
    passing = (
        Example("COPY . . with a .dockerignore", files=changed("${DIR} /workspace/${DIR}", ". /workspace/")),
        Example("only the repository"),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """One finding for each such COPY."""
        for instruction, sources in parsed.copies:
            folders = {entry.relative.partition("/")[0] for entry in dockerfile.copied(view, sources)}
            inside = sorted(folders & {"golden_files", "authoring"})
            if inside:
                yield self.at(
                    view,
                    instruction.line,
                    f"{instruction.name} {' '.join(sources)} puts"
                    f" {' and '.join(f'{name}/' for name in inside)} into the image",
                    "copy only the repository and the requirements, or name these folders in .dockerignore",
                )


class DirectoryArgument(DockerCheck):
    """LMR204."""

    code = "LMR204"
    title = "ARG DIR is the repository's folder"
    fixable = True
    rationale = (
        "LMR-Bench builds with DIR as the repository's folder. A default left over from another task builds"
        " an image of nothing."
    )
    failing = (
        Example(
            "left over from another task",
            files=changed("ARG DIR=margin-ranking", "ARG DIR=other-paper"),
        ),
    )
    passing = (Example("no default", files=changed("ARG DIR=margin-ranking", "ARG DIR")),)

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """At most one finding."""
        wanted = view.info.repo_folder_name.strip().strip("/")
        for item in parsed.named("ARG"):
            name, _, value = item.text.partition("=")
            value = value.strip().strip("\"'").removeprefix("./").strip("/")
            if name.strip() == "DIR" and value and wanted and value != wanted:
                yield self.at(
                    view,
                    item.line,
                    f"ARG DIR is {value!r}, the repository is {wanted!r}",
                    f"write ARG DIR={wanted}",
                )


class SourcesExist(DockerCheck):
    """LMR205."""

    code = "LMR205"
    title = "what the Dockerfile copies and installs exists"
    rationale = (
        "The build stops at a COPY of a file that is not there, or at `pip install -r` of one that was never"
        " copied."
    )
    failing = (
        Example("COPY of a missing file", files=changed("COPY requirements.lock", "COPY requirements.lokc")),
        Example(
            "pip installs a file that was not copied",
            files=changed("-r /tmp/requirements.lock", "-r /tmp/requirements-gpu.txt"),
        ),
        Example("the lock is missing", files={"requirements.lock": None}),
    )
    passing = (
        Example(
            "a file of the repository",
            files=changed("COPY requirements.lock", "COPY ${DIR}/requirements.txt"),
        ),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """One finding for each missing source, one for each requirements file that is not in the image."""
        present: set[str] = set(parsed.destinations)
        missing: set[str] = set()
        for instruction, sources in parsed.copies:
            for source in sources:
                if "$" in source or re.match(r"^(https?|git)[:@]", source):
                    present.add("*")
                    continue
                files = dockerfile.copied(view, [source])
                present |= {entry.name for entry in files}
                folder = source.strip().removeprefix("./").strip("/")
                if (
                    not files
                    and not any(entry.kind == "folder" and entry.relative == folder for entry in view.entries)
                    and folder not in ("", ".")
                ):
                    missing.add(source.rpartition("/")[2])
                    names = [entry.relative for entry in view.entries if entry.relative.count("/") <= 2]
                    left_out = any(entry.relative == folder for entry in view.entries)
                    what = "is left out by .dockerignore" if left_out else "does not exist in the task"
                    yield self.at(
                        view,
                        instruction.line,
                        f"{instruction.name} source {source!r} {what}",
                        did_you_mean(folder, names)
                        or "correct the path; it is relative to the task's folder",
                    )
        yield from self._installed(view, parsed, present, missing)

    def _installed(
        self, view: TaskView, parsed: Dockerfile, present: set[str], missing: set[str]
    ) -> Iterator[Finding]:
        made = "\n".join(command for _, command in parsed.commands if not _installs(command)) + "".join(
            item.text for item in parsed.instructions if "<<" in item.text
        )
        for instruction, command in parsed.commands:
            for match in (
                re.finditer(r"(?:-r|--requirement|-f|--file)[ =]\s*[\"']?([^\s\"']+)", command)
                if _installs(command)
                else ()
            ):
                name = parsed.expand(match[1]).rpartition("/")[2]
                if (
                    "*" in present
                    or name in present
                    or name in missing
                    or name in made
                    or "$" in name
                    or "://" in match[1]
                ):
                    continue
                if not re.search(r"\.(txt|lock|ya?ml|in)$", name):
                    continue
                # Without any COPY the task's folder may be mounted: the file must exist then.
                if not parsed.copies and any(entry.name == name for entry in view.entries):
                    continue
                yield self.at(
                    view,
                    instruction.line,
                    f"installs {match[1]!r}, which is not in the image",
                    did_you_mean(name, sorted(present)) or "COPY it first, or correct its name",
                )


def _installs(command: str) -> bool:
    return bool(
        re.search(r"\b(pip3?|uv|conda|mamba|micromamba)\b.*\b(install|sync|create|update)\b", command)
    )


class RepositoryCopied(DockerCheck):
    """LMR206."""

    code = "LMR206"
    title = "the Dockerfile copies what it needs from the task"
    rationale = (
        "With COPY missing or commented out the image works only where somebody mounts the right folder at"
        " the right place."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "no COPY at all",
            files={
                "Dockerfile": (
                    "FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\nRUN pip install numpy==1.26.4\nUSER"
                    " 1000\n"
                )
            },
        ),
        Example("commented out", files=changed("COPY --chown", "# COPY --chown")),
    )
    passing = (Example("the repository is copied"),)

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """At most one finding."""
        commented = [
            line for line, text in parsed.comments if re.match(r"^#+\s*(COPY|ADD)\s+\S+\s+\S+", text)
        ]
        cloned = any(re.search(r"\bgit clone\b", command) for _, command in parsed.commands)
        heredoc = any("<<" in item.text for item in parsed.named("COPY"))
        if parsed.copies or cloned or heredoc:
            prefix = f"{view.relative_raw(view.repository)}/" if view.repository else "\0"
            files = dockerfile.copied(view, [source for _, sources in parsed.copies for source in sources])
            if any(entry.relative.startswith(prefix) for entry in files) or not commented or cloned:
                return
            yield self.at(view, commented[0], "the COPY of the repository is commented out", "remove the #")
        elif commented:
            yield self.at(
                view,
                commented[0],
                "COPY is commented out: nothing of the task is in the image",
                "remove the #",
            )
        else:
            yield self.at(
                view,
                0,
                "nothing of the task is copied into the image",
                "COPY the requirements and the repository",
            )


class PyTorchBase(DockerCheck):
    """LMR208."""

    code = "LMR208"
    title = "the base image is a PyTorch image"
    rationale = (
        "The benchmark's tasks share PyTorch's official images: drivers, CUDA and torch fit each other and"
        " layers are shared."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "plain Python", files=changed("pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", "python:3.11-slim")
        ),
        Example("no tag", files=changed("pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", "pytorch/pytorch")),
        Example(
            "latest", files=changed("pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", "pytorch/pytorch:latest")
        ),
    )
    passing = (
        Example(
            "pinned by digest",
            files=changed(
                "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime", "pytorch/pytorch@sha256:" + "0" * 64
            ),
        ),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """At most one finding, about the last stage's base."""
        stages: dict[str, str] = {}
        image = line = None
        for item in parsed.named("FROM"):
            words = [word for word in item.text.split() if not word.startswith("--")]
            if not words:
                continue
            image = parsed.expand(words[0])
            image, line = stages.get(image, image), item.line
            if len(words) == 3 and words[1].upper() == "AS":
                stages[words[2]] = image
        if image is None or line is None or "$" in image:
            return
        if "torch" not in image.lower():
            yield self.at(
                view,
                line,
                f"the base image {image} is not a PyTorch image",
                "use pytorch/pytorch:VERSION-cudaX-cudnnY-runtime",
            )
        elif "@" not in image and (":" not in image.rpartition("/")[2] or image.endswith(":latest")):
            yield self.at(view, line, f"the base image {image} has no version", "add the tag of a version")


class RunsAsUser(DockerCheck):
    """LMR209."""

    code = "LMR209"
    title = "the image runs as a user that is not root"
    rationale = (
        "An agent as root can change anything in its container, and files it writes into a mounted folder"
        " belong to root."
    )
    severity = Severity.WARNING
    failing = (
        Example("no USER", files=changed("USER agent\n", "")),
        Example("USER root at the end", files=changed("USER agent\n", "USER agent\nUSER root\n")),
    )
    passing = (Example("a number", files=changed("USER agent\n", "USER 1000:1000\n")),)

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """At most one finding."""
        users = parsed.named("USER")
        if not users:
            yield self.at(
                view, 0, "there is no USER: everything runs as root", "add a user, and USER at the end"
            )
        elif parsed.expand(users[-1].text).partition(":")[0].strip() in ("root", "0"):
            yield self.at(
                view, users[-1].line, "USER is root at the end", "switch to another user at the end"
            )

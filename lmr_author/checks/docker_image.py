"""LMR201, 208, 209: what the image is built from, and who it runs as."""

from __future__ import annotations

from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Check, Content, Example
from lmr_author.checks.dockerfile import Dockerfile
from lmr_author.checks.example_texts import DOCKERFILE
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity


def changed(old: str, new: str) -> dict[str, Content]:
    """The change of one piece of the good Dockerfile."""
    assert old in DOCKERFILE
    return {"Dockerfile": DOCKERFILE.replace(old, new)}


class DockerfileExists(Check):
    code = "LMR201"
    title = "there is a Dockerfile with a base image"
    rationale = "A task without an environment cannot be run by anybody else."
    failing = (
        Example("no Dockerfile", files={"Dockerfile": None}),
        Example(
            "in lower case, read all the same",
            files={"Dockerfile": None, "dockerfile": DOCKERFILE.replace("USER agent\n", "")},
            also=("LMR209",),
        ),
        Example("an empty one", files={"Dockerfile": "\n"}),
        Example("without FROM", files={"Dockerfile": "RUN pip install numpy==1.26.4\nCOPY . .\n"}),
    )
    passing = (Example("the good Dockerfile"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """At most one finding."""
        parsed = dockerfile.read(view)
        hint = "write one; a task made by `lmr-author new-task` has one to go by"
        if parsed is None or dockerfile.place(view) != "Dockerfile":
            elsewhere = [
                entry
                for entry in view.entries
                if entry.kind == "file" and entry.name.lower() in dockerfile.MISNAMED
            ]
            close = f"move {elsewhere[0].relative} to Dockerfile" if elsewhere else hint
            large = view.kind("Dockerfile") == "file"
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
        return self.finding(view, message, hint, path=dockerfile.place(view), line=line, severity=severity)


class PyTorchBase(DockerCheck):
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

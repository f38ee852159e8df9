"""LMR206: whether the masked repository comes into the image."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Example
from lmr_author.checks.docker_image import DockerCheck, changed
from lmr_author.checks.dockerfile import Dockerfile, Instruction
from lmr_author.checks.example_texts import DOCKERFILE, INFO
from lmr_author.checks.leak_package import fetches
from lmr_author.checks.published import published
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity


class RepositoryCopied(DockerCheck):
    code = "LMR206"
    title = "the Dockerfile copies what it needs from the task"
    rationale = (
        "With COPY missing or commented out the image works only where somebody mounts the right folder at"
        " the right place. LMR-Bench's own scripts do, so a Dockerfile that never meant to copy is a note; a COPY"
        " that is commented out is a warning."
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
        Example(
            "the published repository is cloned in its place",
            files=changed(
                "COPY --chown=agent:agent ${DIR} /workspace/${DIR}\n",
                f"RUN git clone {INFO['repo_url']} /workspace/${{DIR}}\n",
            ),
            also=("LMR406",),
        ),
        Example(
            "the published repository is cloned, and the tests are copied into it",
            files=changed(
                "COPY --chown=agent:agent ${DIR} /workspace/${DIR}\n",
                f"RUN git clone {INFO['repo_url']} /workspace/${{DIR}}\n"
                "COPY ${DIR}/unit_test /workspace/${DIR}/unit_test\n",
            ),
            also=("LMR406",),
        ),
        Example(
            "commented out, and the requirements that are copied do not exist",
            files={
                "Dockerfile": DOCKERFILE.replace("COPY --chown", "# COPY --chown").replace(
                    "COPY requirements.lock", "COPY requirements.txt"
                )
            },
            also=("LMR205",),
        ),
        Example(
            "only the requirements",
            files=changed("COPY --chown=agent:agent ${DIR} /workspace/${DIR}\n", ""),
        ),
    )
    passing = (Example("the repository is copied"),)

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """At most one finding."""
        address = published(view).address
        cloned = [item for item in parsed.named("RUN") if address and fetches(address, item.text)]
        others = [item for item in parsed.instructions if item not in cloned]
        if view.repository is None or any(_brings_code(item) for item in others) or _copies(view, parsed):
            return
        pattern = re.compile(r"^#+\s*(COPY|ADD)\s+\S+\s+\S+")
        commented = [line for line, text in parsed.comments if pattern.match(text)]
        what = "the repository" if parsed.copies else "the task"
        if cloned:
            message = "clones the published repository in place of the masked one"
            yield self.at(view, cloned[0].line, message, "COPY the task's own folder")
        elif commented:
            message = f"COPY is commented out: nothing of {what} is in the image"
            yield self.at(view, commented[0], message, "remove the #")
        else:
            hint = "COPY its folder" if parsed.copies else "COPY the requirements and the repository"
            yield self.at(view, 0, f"nothing of {what} is copied into the image", hint, Severity.NOTE)


def _copies(view: TaskView, parsed: Dockerfile) -> bool:
    """Whether code of the repository is copied, or something of which nobody can tell (LMR205 says it)."""
    if not parsed.copies or view.repository is None:
        return False
    sources = [source for _, sources in parsed.copies for source in sources]
    unclear = [source for source in sources if "$" in source or not dockerfile.copied(view, [source])]
    if not all(_is_requirements(source) for source in unclear):
        return True
    prefix = f"{view.relative_raw(view.repository)}/"
    files = [item for item in dockerfile.copied(view, sources) if item.relative.startswith(prefix)]
    tests = f"{prefix}unit_test/"
    return any(not item.relative.startswith(tests) and not _is_requirements(item.name) for item in files)


def _brings_code(item: Instruction) -> bool:
    """Whether an instruction may bring the repository otherwise: a clone, a mount, another stage, an archive."""
    if item.name == "RUN":
        return bool(
            re.search(r"\bgit\s+clone\b|--mount=type=bind|\b(?:wget|curl)\b.*\.(?:zip|tar|tgz)", item.text)
        )
    return item.name in ("COPY", "ADD") and bool(re.search(r"--from=|<<|\.(?:zip|tgz|tar)\b", item.text))


def _is_requirements(name: str) -> bool:
    """Whether a file only says what is to be installed."""
    return name.endswith((".txt", ".lock", ".yml", ".yaml", ".toml", ".cfg", ".in")) or name == "setup.py"

"""LMR202, 204, 205: what the Dockerfile takes from the task."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Example
from lmr_author.checks.docker_image import DockerCheck, changed
from lmr_author.checks.docker_paths import in_image
from lmr_author.checks.dockerfile import Dockerfile, Instruction
from lmr_author.checks.example_texts import DOCKERFILE, REPOSITORY
from lmr_author.checks.lookup import did_you_mean
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity

IGNORE = ".dockerignore"


class NoGoldenInImage(DockerCheck):
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
    code = "LMR204"
    title = "ARG DIR is the repository's folder"
    fixable = True
    rationale = (
        "LMR-Bench builds in the task's folder, with DIR as the repository's. A default left over from another task"
        " builds an image of nothing; this task's own folder is right for a build from the folder above, and a note."
    )
    failing = (
        Example(
            "left over from another task",
            files=changed("ARG DIR=margin-ranking", "ARG DIR=other-paper"),
        ),
        Example("as a variable", files=changed("ARG DIR=margin-ranking", "ENV DIR other-paper")),
        Example(
            "this task's folder",
            files={
                "Dockerfile": DOCKERFILE.replace("=margin-ranking", "=1-MarginRanking").replace(
                    "COPY --chown=agent:agent ${DIR}", "COPY --chown=agent:agent ${DIR}/margin-ranking"
                )
            },
        ),
        Example(
            "left over, and unused",
            files={
                "Dockerfile": DOCKERFILE.replace("=margin-ranking", "=other").replace(
                    "${DIR}", "margin-ranking"
                )
            },
        ),
        Example(
            "the folder of all tasks",
            files={
                "Dockerfile": DOCKERFILE.replace("=margin-ranking", "=other").replace(
                    "COPY --chown=agent:agent ${DIR}", "COPY --chown=agent:agent ${DIR}/margin-ranking"
                )
            },
        ),
    )
    passing = (
        Example("no default", files=changed("ARG DIR=margin-ranking", "ARG DIR")),
        Example(
            "this task's folder, and nothing uses it",
            files={
                "Dockerfile": DOCKERFILE.replace("=margin-ranking", "=1-MarginRanking").replace(
                    "${DIR}", "margin-ranking"
                )
            },
        ),
        Example("a folder of the image", files=changed("USER agent", "ENV DIR=/workspace\nUSER agent")),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """At most one finding."""
        wanted = dockerfile.in_context(view.info.repo_folder_name)
        used, below = dockerfile.uses_directory(parsed), dockerfile.is_below(parsed, wanted)
        own = (view.task.name, view.info.folder_name)
        for item in parsed.named("ARG", "ENV"):
            found = re.search(r"(?:^|\s)DIR(?:=|\s+)[\"']?([^\s\"']+)", item.text)
            if found is None or "$" in found[1] or (item.name == "ENV" and found[1].startswith("/")):
                continue
            value = found[1].removeprefix("./").strip("/")
            if not value or not wanted or value == wanted or (value in own and not used):
                continue
            if value in own:
                yield self.at(
                    view,
                    item.line,
                    f"{item.name} DIR is the task's folder: the image is built from the folder of all tasks, LMR-Bench"
                    f" builds it from the task's, with DIR={wanted}",
                    f"write {item.name} DIR={wanted}, and paths from the task's folder in place of ${{DIR}}/…",
                    Severity.NOTE,
                )
                continue
            yield self.at(
                view,
                item.line,
                f"{item.name} DIR is {value!r}, the repository is {wanted!r}"
                + ("" if used else ", and nothing uses it"),
                f"write {item.name} DIR={wanted}"
                + (f", and COPY ${{DIR}} in place of ${{DIR}}/{wanted}" if below else ""),
                None if used else Severity.WARNING,
            )


class SourcesExist(DockerCheck):
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
        Example(
            "a file of that name lies elsewhere in the repository",
            files={
                **changed("USER agent", "RUN pip install -r /workspace/${DIR}/requirements.txt\nUSER agent"),
                f"{REPOSITORY}/requirements.txt": None,
                f"{REPOSITORY}/examples/requirements.txt": "numpy==1.26.4\n",
            },
        ),
        Example(
            "a variable of the shell", files=changed("COPY requirements.lock", "COPY $PWD/requirements.lock")
        ),
        Example(
            "a path of somebody's machine",
            files=changed("COPY requirements.lock", "COPY /home/ada/task/requirements.lock"),
        ),
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
                if _OF_THE_HOST.search(source):
                    yield self.at(
                        view,
                        instruction.line,
                        f"{instruction.name} source {source!r} means a folder of the machine that builds the image",
                        "write it relative to the task's folder, which is all that COPY can see",
                    )
                    present.add("*")
                    continue
                if "$" in source or re.match(r"^(https?|git)[:@]", source):
                    present.add("*")
                    continue
                files = dockerfile.copied(view, [source])
                present |= {entry.name for entry in files}
                folder = dockerfile.in_context(source)
                if not files and view.kind(folder) != "folder" and folder not in ("", "."):
                    missing.add(source.rpartition("/")[2])
                    names = [entry.relative for entry in view.entries if entry.relative.count("/") <= 2]
                    what = (
                        "is left out by .dockerignore" if view.kind(folder) else "does not exist in the task"
                    )
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
            for match in _FILE_ARGUMENT.finditer(command) if _installs(command) else ():
                path = parsed.expand(match[1])
                name = path.rpartition("/")[2]
                if "*" in present or name in missing or name in made or "$" in name or "://" in path:
                    continue
                if not re.search(r"\.(txt|lock|ya?ml|in)$", name):
                    continue
                # Without any COPY the task's folder may be mounted: the file must exist then.
                mounted = not parsed.copies and bool(view.named(name))
                there = in_image(view, parsed, instruction, path)
                by_name = name in present and not _elsewhere(view, parsed, instruction, path)
                if mounted or there or (there is None and by_name):
                    continue
                yield self.at(
                    view,
                    instruction.line,
                    f"installs {match[1]!r}, which is not in the image",
                    _meant(view, name, path) if by_name else did_you_mean(name, sorted(present)) or _COPY_IT,
                )


_OF_THE_HOST = re.compile(
    r"^(?:\$\{?(?:PWD|HOME|OLDPWD)\b|\$\(|`|~|[A-Za-z]:[\\/]|/(?:home|Users|root|mnt|media)/)"
)
"""Where COPY would have to leave the build context; variables of the shell are unknown to it."""

_FILE_ARGUMENT = re.compile(r"(?<!\S)(?:-r\s*|(?:--requirement|-f|--file)(?:=|\s+))[\"']?([^\s\"']+)")


_COPY_IT = "COPY it first, or correct its name"


def _meant(view: TaskView, name: str, path: str) -> str:
    """What to do where files of that name are copied, but none to that place."""
    entries = [entry.relative for entry in view.named(name) if entry.kind == "file"]
    return did_you_mean(path, entries, cutoff=0.0) if entries else _COPY_IT


def _elsewhere(view: TaskView, parsed: Dockerfile, installing: Instruction, path: str) -> bool:
    """Whether a path names a folder that neither the task nor the Dockerfile speaks of otherwise."""
    folder = path.rpartition("/")[0].rpartition("/")[2]
    if not folder or folder.startswith((".", "~", "$")):
        return False
    others = " ".join(parsed.expand(item.text) for item in parsed.instructions if item is not installing)
    return folder not in others and not any(f"/{folder}/" in f"/{entry.relative}" for entry in view.entries)


_INSTALLS = re.compile(r"\b(pip3?|uv|conda|mamba|micromamba)\b.*\b(install|sync|create|update)\b")


def _installs(command: str) -> bool:
    return _INSTALLS.search(command) is not None

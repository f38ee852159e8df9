"""LMR2xx: the Dockerfile."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from lmr_author.core.task import Severity
from lmr_author.core.texts import listed
from lmr_author.proof.checks import dockerfile
from lmr_author.proof.checks.base import NOTE, WARNING, Check, Problem, check, closest_names_hint
from lmr_author.proof.checks.dockerfile import (
    Dockerfile,
    copied,
    in_context,
    name_in,
    published,
    requirements,
)
from lmr_author.proof.checks.unit_tests import UnitTest, read_test
from lmr_author.proof.contents import TaskContents

DockerRule = Callable[[TaskContents, Dockerfile], Iterable[Problem]]


def _docker_check(
    code: str, title: str, *, rationale: str, severity: Severity = Severity.ERROR
) -> Callable[[DockerRule], Check]:
    def decorate(rule: DockerRule) -> Check:
        def problems(task: TaskContents) -> Iterator[Problem]:
            parsed = dockerfile.read(task)
            if parsed is not None and parsed.named("FROM"):  # LMR201 reports that there is none
                yield from rule(task, parsed)

        return check(code, title, rationale=rationale, severity=severity)(problems)

    return decorate


def _at(line: int, message: str, hint: str, severity: Severity | None = None) -> Problem:
    return Problem(message, hint, "Dockerfile", line, severity=severity)


@check(
    "LMR201",
    "the Dockerfile is missing or has no base image",
    rationale="Without an environment nobody else can run the task.",
)
def dockerfile_present(task: TaskContents) -> Iterator[Problem]:
    parsed, hint = dockerfile.read(task), "generate one with `lmr-author env lock`"
    if parsed is None:
        state = "too large to be one" if task.kind("Dockerfile") == "file" else "missing"
        yield Problem(f"the Dockerfile is {state}", hint, "Dockerfile")
    elif not parsed.named("FROM"):
        yield Problem("the Dockerfile has no FROM", hint, "Dockerfile")


@_docker_check(
    "LMR202",
    "the image contains the golden",
    rationale="The agent works inside the image. `COPY . .` at the task's root copies the solution and the authoring"
    " records into it.",
)
def image_contains_golden(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    hint = "copy only the repository and the requirements, or use .dockerignore"
    for instruction, sources, _ in parsed.copies:
        folders = {entry.relative.partition("/")[0] for entry in copied(task, sources)}
        inside = " and ".join(f"{name}/" for name in sorted(folders & {"golden_files", "authoring"}))
        if inside:
            message = f"{instruction.name} {' '.join(sources)} puts {inside} into the image"
            yield _at(instruction.line, message, hint)


_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.", re.DOTALL)
_INSTALLER = re.compile(r"(?i)\b(pip[\d.]*|pipenv|conda|mamba|uv|poetry|pdm|rye)\b.*\b(install|add)\b")
_REDIRECT = re.compile(
    r"(?<!\S)(?:[A-Za-z0-9_.\[\],-]*[A-Za-z_\]][\w.\]-]*[<>]=?[=~]?|[A-Za-z][\w.\[\]-]*\s+[<>]=?\s*)\d[\w.*]*"
)


@_docker_check(
    "LMR203",
    "an unquoted version range redirects the output",
    rationale="In `RUN pip install torch>=2.5` the shell redirects pip's output into a file named `=2.5` and installs"
    " any torch at all.",
)
def unquoted_versions(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    for instruction in parsed.named("RUN"):
        commands = re.split(r"&&|\|\||;|\n", _QUOTED.sub("q", dockerfile.shell_text(instruction.text)))
        installs = "\n".join(command for command in commands if _INSTALLER.search(command))
        ranges = [match.strip() for match in _REDIRECT.findall(installs)]
        if ranges:
            message = f"{', '.join(ranges)} is not quoted: the shell reads it as a redirection"
            hint = f'quote it ("{ranges[0]}"), or better pin it with =='
            yield _at(instruction.line, message, hint)


@_docker_check(
    "LMR204",
    "ARG DIR is not the repository's folder",
    rationale="LMR-Bench builds in the task's folder and passes the repository's folder as DIR. A default left over"
    " from another task builds an empty image. The task's own folder is correct for a build from the parent folder.",
)
def directory_argument(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    wanted = in_context(task.info.repo_folder_name)
    right = ("", wanted, task.task.name, task.info.folder_name)
    is_used = any(re.search(r"\$(?:DIR\b|\{DIR\b)", instruction.text) for instruction in parsed.instructions)
    for instruction in parsed.named("ARG", "ENV"):
        match = re.search(r"(?:^|\s)DIR(?:=|\s+)[\"']?([^\s\"'$/][^\s\"'$]*)", instruction.text)
        value = in_context(match[1]) if match else ""
        if wanted and value not in right:
            message = f"{instruction.name} DIR is {value!r}, the repository is {wanted!r}"
            message += "" if is_used else "; unused"
            severity = None if is_used else WARNING
            yield _at(instruction.line, message, f"write {instruction.name} DIR={wanted}", severity)


_FILE_ARGUMENT = re.compile(
    r"(?<!\S)(?:-r\s*|(?:--requirement|-f|--file)(?:=|\s+))[\"']?([^\s\"']+\.(?:txt|lock|ya?ml|in))"
)
_INSTALLS = re.compile(r"\b(pip[\d.]*|uv|conda|mamba|micromamba)\b.*\b(install|sync|create|update)\b")


@_docker_check(
    "LMR205",
    "the Dockerfile uses a file that does not exist",
    rationale="The build stops at a COPY of a missing file, or at `pip install -r` of one that was never copied.",
)
def sources_exist(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    present = {target.rpartition("/")[2] for _, _, target in parsed.copies}
    is_unclear = len(parsed.copies) < len(parsed.named("COPY", "ADD"))
    for instruction, sources, _ in parsed.copies:
        for source in sources:
            path, files = in_context(source), copied(task, [source])
            present.update(entry.name for entry in files)
            if re.match(r"(?:https?|git)[:@]|.*\$", source):
                is_unclear = True
            elif path and not files and task.kind(path) != "folder":
                present.add(path.rpartition("/")[2])  # reported once
                names = [entry.relative for entry in task.entries if entry.relative.count("/") <= 2]
                state = "is excluded by .dockerignore" if task.kind(path) else "does not exist in the task"
                message = f"{instruction.name} source {source!r} {state}"
                hint = (
                    closest_names_hint(path, names) or "correct the path; it is relative to the task's folder"
                )
                yield _at(instruction.line, message, hint)
    if not is_unclear:
        yield from _missing_requirements(task, parsed, present)


def _missing_requirements(task: TaskContents, parsed: Dockerfile, present: set[str]) -> Iterator[Problem]:
    made = " ".join(command for _, command in parsed.commands if not _INSTALLS.search(command))
    for instruction, command in parsed.commands:
        if not _INSTALLS.search(command):
            continue
        for match in _FILE_ARGUMENT.finditer(command):
            path = parsed.expand(match[1])
            name = path.rpartition("/")[2]
            is_mounted = not parsed.copies and bool(task.named(name))  # the scripts mount the task's folder
            is_elsewhere = re.search(r"[$]|://", path) is not None
            if not (is_mounted or is_elsewhere or name in present or name in made):
                hint = closest_names_hint(name, sorted(present)) or "COPY it first, or correct its name"
                message = f"installs {match[1]!r}, which is not in the image"
                yield _at(instruction.line, message, hint)


@_docker_check(
    "LMR206",
    "the image does not contain the repository",
    rationale="Without COPY the image works only if the right folder is mounted at the right path. LMR-Bench's own"
    " scripts mount it, so a Dockerfile without any COPY is a note; a COPY that is commented out, or a clone of the"
    " published repository instead, is a warning.",
    severity=WARNING,
)
def repository_copied(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    if task.repository is None or _copies_code(task, parsed):
        return
    commands = parsed.named("RUN", "COPY", "ADD")
    cloned = [command for command in commands if published(task).is_fetched_by(command.text)]
    if any(_OTHER_SOURCE.search(command.text) for command in commands if command not in cloned):
        return
    commented = [line for line, text in parsed.comments if re.match(r"#+\s*(COPY|ADD)\s+\S+\s+\S+", text)]
    what = "the repository" if parsed.copies else "the task"
    if cloned:
        message = "clones the published repository instead of copying the masked one"
        yield _at(cloned[0].line, message, "COPY the task's own folder")
    elif commented:
        message = f"COPY is commented out: nothing of {what} is in the image"
        yield _at(commented[0], message, "remove the #")
    else:
        hint = "COPY its folder" if parsed.copies else "COPY the requirements and the repository"
        yield _at(0, f"nothing of {what} is copied into the image", hint, NOTE)


_OTHER_SOURCE = re.compile(r"git\s+clone|--mount=type=bind|--from=|<<|\.(?:zip|tgz|tar)\b")
_INSTALL_FILE = re.compile(r".*\.(?:txt|lock|ya?ml|toml|cfg|in)|(?:.*/)?setup\.py")


def _copies_code(task: TaskContents, parsed: Dockerfile) -> bool:
    for _, sources, _ in parsed.copies:
        for source in sources:
            paths = [task.in_repository(entry) for entry in copied(task, [source])]
            code = [path for path in paths if path and not path.startswith("unit_test/")]
            if "$" in source or not paths:
                code = [source]
            if not all(map(_INSTALL_FILE.fullmatch, code)):
                return True
    return False


_EXACT = re.compile(r"===?\s*[\w.]+(?!\.\*)|@\s*\S|[0-9a-f]{7,40}$|\.whl\b")
_FIRST = frozenset({"torch", "tensorflow", "jax", "transformers", "numpy"})
"""Packages on whose versions results depend most."""


@_docker_check(
    "LMR207",
    "installed packages are not pinned",
    rationale="Unpinned requirements give a different environment each month, and tests that compare numbers fail for"
    " reasons that are hard to find. A warning if nothing is pinned, a note if only some packages are not.",
    severity=WARNING,
)
def pinned(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    installed = list(requirements(task, parsed))
    loose = [(by, text) for by, text in installed if not _EXACT.search(text.partition(" #")[0])]
    if loose:
        names = {name_in(text) for _, text in loose}
        shown = [*sorted(names & _FIRST), *sorted(names - _FIRST)]
        some_exact = len(installed) > len(loose)
        message = f"{'not' if some_exact else 'nothing is'} pinned: {listed(shown, 6)}"
        yield _at(loose[0][0].line, message, "pin each as name==version", NOTE if some_exact else None)


@_docker_check(
    "LMR208",
    "the base image is not a pinned PyTorch image",
    rationale="The benchmark's tasks use PyTorch's official images: driver, CUDA and torch versions match, and layers"
    " are shared.",
    severity=WARNING,
)
def pytorch_base(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    stages: dict[str, str] = {}
    image, line = "", 0
    for instruction in parsed.named("FROM"):
        words = [word for word in instruction.text.split() if not word.startswith("--")] or [""]
        name, line = parsed.expand(words[0]), instruction.line
        image = stages.get(name, name)
        stages[words[-1]] = image  # `FROM image AS name`
    if not image or "$" in image:
        return
    if "torch" not in image.lower():
        hint = "use pytorch/pytorch:VERSION-cudaX-cudnnY-runtime"
        yield _at(line, f"the base image {image} is not a PyTorch image", hint)
    elif not re.search(r"@|:(?!latest$)[^/]+$", image):
        yield _at(line, f"the base image {image} has no version", "add a version tag")


@_docker_check(
    "LMR209",
    "the image runs as root",
    rationale="An agent with root rights can change anything in its container, and files it writes to a mounted folder"
    " belong to root.",
    severity=WARNING,
)
def runs_as_user(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    users = parsed.named("USER")
    if not users:
        yield _at(0, "no USER: everything runs as root", "create a user, and add USER at the end")
    elif parsed.expand(users[-1].text).partition(":")[0].strip() in ("root", "0"):
        yield _at(users[-1].line, "the last USER is root", "switch to another user at the end")


_MODEL = re.compile(
    r"from_pretrained|snapshot_download|hf_hub_download|(?:huggingface-cli|\bhf) download|load_dataset\("
    r"|nltk\.download(?!er -d /usr/share/nltk_data )|git clone \S*huggingface\.co|spacy download|\bgdown\b"
    r"|torch\.hub\.load|git lfs (?:pull|clone|fetch)|SentenceTransformer\("
    r"|(?:\bpython3?|\bbash|\bsh)\s+\S*download\w*\.(?:py|sh)\b|\./\S*download\w*\.sh\b"
)
_ADDRESS = re.compile(r"(?:\b(?:wget|curl|aria2c)\b.*?|^)(https?://[^\s\"']+)", re.DOTALL)
_DATA = re.compile(
    r"huggingface\.co|drive\.google|dl\.fbaipublicfiles|zenodo|figshare|dropbox"
    r"|\.(?:pth?|bin|ckpt|safetensors|h5|np[yz]|pkl|jsonl?|csv|zip|tar|tgz|tar\.gz|vec|model)(?:\?|$)"
)


@_docker_check(
    "LMR210",
    "the image build downloads models or data",
    rationale="Downloads at build time change, move and disappear, and make builds slow; tests that download cannot run"
    " offline. NLTK data in /usr/share/nltk_data is found without a network and does not count.",
    severity=WARNING,
)
def downloads(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    for instruction in parsed.named("RUN", "ADD"):
        model = _MODEL.search(instruction.text)
        data = [match for match in _ADDRESS.findall(instruction.text) if _DATA.search(match)]
        if model or data:
            source = model[0].strip("( ") if model else data[0]
            message, hint = f"downloads at build: {source:.120}", "store a small fixture under unit_test/"
            yield _at(instruction.line, message, hint)


@_docker_check(
    "LMR211",
    "nothing creates the folder of the test's log",
    rationale="A test that opens a log in a folder that nobody made fails with FileNotFoundError before it has tested"
    " anything.",
)
def log_folder_exists(task: TaskContents, parsed: Dockerfile) -> Iterator[Problem]:
    made = " ".join(text for _, text in parsed.commands if re.search("mkdir|install -d", text))
    folders = {entry.name for entry in task.repository_entries if entry.kind == "folder"}
    for target in task.implementations:
        test = read_test(task, target)
        folder = _log_folder(test) if test else ""
        if test and folder and folder not in folders and folder not in made:
            message = f"writes into {folder}/, which nothing creates"
            hint = "call os.makedirs(..., exist_ok=True) in the test, or `RUN mkdir -p` in the Dockerfile"
            yield Problem(message, hint, test.path, target=target)


def _log_folder(test: UnitTest) -> str:
    """Return the folder that a test writes a log into and does not make; "" for none."""
    source = "".join(module.text for module in test.modules)
    named = re.search(r"[\"'/]([Ll]ogs?)[\"'/]", source)
    makes = re.search(r"\b(?:makedirs|mkdir|mkdtemp)\(", source)
    writes = any(text.value.endswith((".log", ".txt")) for text in test.texts)
    return named[1] if named and writes and not makes else ""

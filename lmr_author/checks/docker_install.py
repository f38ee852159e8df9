"""LMR203, 207, 210, 211, 406: what the Dockerfile installs, downloads and prepares."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Example, TaskView
from lmr_author.checks.docker_image import DockerCheck, changed
from lmr_author.checks.dockerfile import Dockerfile, Instruction
from lmr_author.checks.example_task import DOCKERFILE, REPOSITORY, UNIT_TEST
from lmr_author.checks.lookup import pairs, unit_test_path
from lmr_author.model import Finding, Severity

INSTALL = "RUN pip install --no-cache-dir -r /tmp/requirements.lock"
_UNPINNED = DOCKERFILE.replace(
    "COPY requirements.lock /tmp/requirements.lock", "COPY ${DIR}/requirements.txt /tmp/"
).replace("/tmp/requirements.lock", "/tmp/requirements.txt")
_REDIRECT = re.compile(r"^[A-Za-z0-9_.\[\],-]*[A-Za-z0-9_\]](?:\s*[<>]=?|>)[=~]?\s*\d")
_SPACED = re.compile(r"(?<=\s)[A-Za-z][\w.\[\]-]*\s+[<>]=?\s*\d[\w.]*(?=\s|$)")
_PIP = re.compile(r"\b(?:pip3?|uv pip|python3? -m pip)\s+(?:[\w-]+=?\S*\s+)*?install\s+(.*)", re.DOTALL)
_MODEL = re.compile(
    r"from_pretrained|snapshot_download|hf_hub_download|(?:huggingface-cli|\bhf)"
    r" download|load_dataset\(|nltk\.download|nltk\.downloader"
    r"|spacy download|\bgdown\b|torch\.hub\.load|git lfs (?:pull|clone|fetch)|SentenceTransformer\("
)
_FETCH = re.compile(r"\b(?:wget|curl|aria2c)\b.*?(https?://\S+)", re.DOTALL)
_DATA = re.compile(
    r"huggingface\.co|drive\.google|dl\.fbaipublicfiles|zenodo|figshare|dropbox|\.(?:pt|pth|bin|ckpt|safetensors|h5|npz|npy|pkl|jsonl?|csv|zip|tar|tgz|tar\.gz|vec|model)(?:[?\"'\s]|$)"
)


class QuotedVersions(DockerCheck):
    """LMR203."""

    code = "LMR203"
    title = "version ranges on a command line are quoted"
    rationale = (
        "In `RUN pip install torch>=2.5` the shell redirects pip's output into a file named `=2.5` and"
        " installs any torch at all."
    )
    failing = (
        Example(
            "torch>=2.5 unquoted",
            files=changed(INSTALL, INSTALL + "\nRUN pip install numpy==1.26.4 torch>=2.5"),
        ),
        Example("an upper bound", files=changed(INSTALL, INSTALL + " && pip install numpy<2")),
        Example(
            "on a continuation line",
            files=changed(
                INSTALL, INSTALL + " && \\\n    pip install \\\n    scipy==1.11.4 \\\n    torch>2.0"
            ),
        ),
    )
    passing = (
        Example("quoted", files=changed(INSTALL, INSTALL + " && pip install 'torch>=2.5' \"numpy<2\"")),
        Example("a real redirection", files=changed(INSTALL, INSTALL + " > /tmp/pip.log 2>&1")),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """One finding for each RUN."""
        for item in parsed.named("RUN"):
            if item.text.lstrip().startswith("["):
                continue
            bare = _without_quotes(item.text)
            found = []
            for command in re.split(r"&&|\|\||;|\n", bare):
                if re.search(r"\b(pip3?|conda|mamba|uv)\b.*\b(install|add)\b", command):
                    found += [word for word in command.split() if _REDIRECT.match(word)]
                    found += [match[0].strip() for match in _SPACED.finditer(command)]
            if found:
                yield self.at(
                    view,
                    item.line,
                    f"{', '.join(found)} is not quoted: the shell takes it for a redirection",
                    f'write "{found[0]}" in quotes, or better pin it with ==',
                )


def _without_quotes(text: str) -> str:
    """Shell text with what is quoted or escaped replaced by a letter."""
    return re.sub(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.", "q", text, flags=re.DOTALL)


class Pinned(DockerCheck):
    """LMR207."""

    code = "LMR207"
    title = "what is installed is pinned"
    rationale = (
        "Unpinned requirements mean another environment each month; tests that compare numbers fail for"
        " reasons nobody can find."
    )
    severity = Severity.WARNING
    failing = (
        Example("the repository's own, unpinned requirements", files={"Dockerfile": _UNPINNED}),
        Example("names on the command line", files=changed(INSTALL, "RUN pip install numpy scipy")),
    )
    passing = (
        Example("a lock"),
        Example("pinned on the command line", files=changed(INSTALL, "RUN pip install numpy==1.26.4")),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """At most one finding: when nothing is pinned at all, or (a note) when something is not."""
        pinned: list[str] = []
        loose: list[str] = []
        line = 0
        for item, requirement in requirements(view, parsed):
            bare = _without_quotes(item.text)
            redirected = re.search(r"(?<!\S)" + re.escape(requirement) + r"\s+[<>]=?\s*\d", bare)
            if requirement in bare and (re.search("[<>]", requirement) or redirected):
                continue  # LMR203: the shell never shows it to pip
            name = re.split(r"[\s=<>!~\[;@#]", requirement, maxsplit=1)[0]
            exact = re.search(
                r"===?\s*[\w.]+(?!\.\*)|@\s*\S|[0-9a-f]{7,40}$|\.whl\b", requirement.partition(" #")[0]
            )
            (pinned if exact else loose).append(name)
            line = line or (0 if exact else item.line)
        if loose and not pinned:
            yield self.at(
                view,
                line,
                f"nothing is pinned: {_listed(loose)}",
                "pin them: `lmr-author env lock`, or name==version",
            )
        elif loose:
            yield self.at(view, line, f"not pinned: {_listed(loose)}", "add ==version", Severity.NOTE)


def _listed(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    return ", ".join(unique[:6]) + (f" and {len(unique) - 6} more" if len(unique) > 6 else "")


def requirements(view: TaskView, parsed: Dockerfile) -> Iterator[tuple[Instruction, str]]:
    """(instruction, requirement) of everything that pip installs, requirements files of the task opened."""
    for item, command in parsed.commands:
        match = _PIP.search(parsed.expand(command))
        if match is None:
            continue
        try:
            words = shlex.split(match[1], comments=True)
        except ValueError:
            words = match[1].split()
        skip = False
        for number, word in enumerate(words):
            if skip:
                skip = False
            elif word in ("-r", "--requirement"):
                skip = True
                if number + 1 < len(words):
                    yield from ((item, line) for line in _file_requirements(view, parsed, words[number + 1]))
            elif word.startswith(("-r", "--requirement=")) and len(word) > 2:
                yield from (
                    (item, line)
                    for line in _file_requirements(view, parsed, re.sub(r"^(-r|--requirement=)", "", word))
                )
            elif word in (
                "-e",
                "--editable",
                "-c",
                "-i",
                "--index-url",
                "--extra-index-url",
                "-f",
                "--find-links",
                "--target",
                "-t",
                "--timeout",
            ):
                skip = True
            elif not word.startswith(("-", ".", "/", ">", "2>", "$", "\\")) and word not in (
                "pip",
                "setuptools",
                "wheel",
                "uv",
            ):
                yield item, word


def _file_requirements(view: TaskView, parsed: Dockerfile, name: str) -> list[str]:
    """The requirements of a file that the image installs, looked up by its name in the task."""
    wanted = name.rpartition("/")[2]
    options = [entry for entry in view.entries if entry.kind == "file" and entry.name == wanted]
    from_copies = [
        entry
        for _, sources in parsed.copies
        for entry in dockerfile.copied(view, sources)
        if entry.name == wanted
    ]
    chosen = sorted(from_copies or options, key=lambda entry: entry.relative.count("/"))
    text = view.text(view.path(chosen[0])) if chosen else None
    lines = (re.sub(r"\s#.*", "", line).strip().rstrip("\\").strip() for line in (text or "").splitlines())
    return [line for line in lines if line and not line.startswith(("#", "-", ".", "/"))]


class NoDownloads(DockerCheck):
    """LMR210."""

    code = "LMR210"
    title = "no models or data are downloaded while the image is built"
    rationale = (
        "What is downloaded at build changes, moves and disappears; builds take hours, and tests that need it"
        " cannot run offline."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "a model from a hub",
            files=changed(
                "USER agent\n",
                'RUN python -c "from transformers import AutoModel;'
                " AutoModel.from_pretrained('gpt2')\"\nUSER agent\n",
            ),
        ),
        Example(
            "data with wget",
            files=changed(
                "USER agent\n", "RUN wget https://example.org/data/train.jsonl -P /data\nUSER agent\n"
            ),
        ),
    )
    passing = (
        Example(
            "an installer",
            files=changed(
                "USER agent\n", "RUN curl -fsSL https://example.org/install.sh -o /tmp/i.sh\nUSER agent\n"
            ),
        ),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """One finding for each RUN."""
        for item in parsed.named("RUN", "ADD"):
            found = _MODEL.search(item.text)
            what = found[0].strip("( ") if found else ""
            for match in _FETCH.finditer(item.text):
                if _DATA.search(match[1]):
                    what = what or match[1].strip("\"'")
            if item.name == "ADD" and re.match(r"https?://", item.text) and _DATA.search(item.text):
                what = item.text.split()[0]
            if what:
                yield self.at(
                    view,
                    item.line,
                    f"downloads at build: {what:.120}",
                    "store a small fixture under unit_test/ instead",
                )


class LogFolderExists(DockerCheck):
    """LMR211."""

    code = "LMR211"
    title = "the folder that a test logs into exists"
    rationale = (
        "A test that opens a log in a folder nobody made fails with FileNotFoundError before it has tested"
        " anything."
    )
    failing = (
        Example(
            "nobody makes unit_test/logs",
            files={
                f"{REPOSITORY}/unit_test/unit_test_1.py": UNIT_TEST.replace(
                    "os.makedirs(LOGS, exist_ok=True)\n", ""
                )
            },
        ),
    )
    passing = (
        Example(
            "the Dockerfile makes it",
            files={
                f"{REPOSITORY}/unit_test/unit_test_1.py": UNIT_TEST.replace(
                    "os.makedirs(LOGS, exist_ok=True)\n", ""
                ),
                **changed("USER agent\n", "RUN mkdir -p /workspace/${DIR}/unit_test/logs\nUSER agent\n"),
            },
        ),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """One finding for each test."""
        from lmr_author.checks.reading import reading

        if view.repository is None:
            return
        made_by_image = " ".join(
            command for _, command in parsed.commands if "mkdir" in command or "install -d" in command
        )
        folders = {entry.relative for entry in view.entries if entry.kind == "folder"}
        for one in pairs(view):
            path = unit_test_path(view, one.implementation)
            test = reading(view, path)
            if test is None or test.makes_folders or path is None:
                continue
            for folder in test.log_folders:
                last = folder.rstrip("/").rpartition("/")[2]
                if not last or last in made_by_image or any(name.endswith("/" + last) for name in folders):
                    continue
                yield self.finding(
                    view,
                    f"logs into {folder}, and nothing makes that folder",
                    "call os.makedirs(..., exist_ok=True) in the test, or `RUN mkdir -p` in the Dockerfile",
                    implementation=one.implementation,
                    path=path,
                )
                break


class OwnPackageInstalled(DockerCheck):
    """LMR406."""

    code = "LMR406"
    title = "the image does not install the published package that contains the solution"
    rationale = (
        "With the package in site-packages the solution is one `inspect.getsource` away, and a test may"
        " import it instead of the goal file."
    )
    failing = (
        Example(
            "the package of the repository",
            files={
                "requirements.lock": "numpy==1.26.4\nmargin-ranking==1.0\n",
                f"{REPOSITORY}/setup.py": "from setuptools import setup\nsetup(name='margin_ranking')\n",
            },
        ),
        Example(
            "from its own address",
            files=changed(INSTALL, INSTALL + " && pip install git+https://example.org/code/margin-ranking"),
            also=("LMR207",),
        ),
    )
    passing = (
        Example(
            "the repository itself, which is masked",
            files=changed(INSTALL, INSTALL + " && pip install -e /workspace/${DIR}"),
        ),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """One finding for each requirement."""
        names = package_names(view)
        address = re.sub(r"\.git$", "", view.info.repo_url.strip().rstrip("/").lower())
        for item, requirement in requirements(view, parsed):
            name = normalised(re.split(r"[\s=<>!~\[;@#]", requirement, maxsplit=1)[0])
            own = bool(address) and len(address) > 12 and address in requirement.lower()
            if name in names or own:
                where = item.text if requirement in item.text else "a requirements file"
                yield self.at(
                    view,
                    item.line,
                    f"installs {requirement!r:.100}, the package that contains the solution"
                    + ("" if where == item.text else " (from a requirements file)"),
                    "remove it; the tests import the repository's own files",
                    None if own or names.get(name) else Severity.WARNING,
                )


def normalised(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower().strip("-")


def package_names(view: TaskView) -> dict[str, bool]:
    """Names under which the goal file may be published; True for those the repository gives itself."""
    names: dict[str, bool] = {}
    if view.repository is None:
        return names
    for one in pairs(view):
        if one.goal_path is None:
            continue
        parts = list(one.goal_path.relative_to(view.repository).parts[:-1])
        for depth, part in enumerate(parts):
            folder = view.repository.joinpath(*parts[: depth + 1])
            if (folder / "__init__.py").is_file():
                # Only a telling name: `utils` or `src` is also the name of somebody's package.
                if part not in (
                    "src",
                    "lib",
                    "utils",
                    "models",
                    "model",
                    "data",
                    "code",
                    "core",
                    "tests",
                    "scripts",
                ):
                    names.setdefault(normalised(part), False)
                break
    patterns = (
        ("setup.py", r"\bname\s*=\s*[\"']([\w.-]+)[\"']"),
        ("setup.cfg", r"(?m)^name\s*=\s*([\w.-]+)"),
        ("pyproject.toml", r"(?m)^name\s*=\s*[\"']([\w.-]+)[\"']"),
    )
    for file, pattern in patterns:
        match = re.search(pattern, view.text(view.repository / file) or "")
        if match:
            names[normalised(match[1])] = True
    return names

"""LMR203, 207, 210, 211: what the Dockerfile installs, downloads and prepares."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmr_author.checks.base import Example
from lmr_author.checks.docker_image import DockerCheck, changed
from lmr_author.checks.dockerfile import Dockerfile, shell_text
from lmr_author.checks.example_texts import DOCKERFILE, REPOSITORY, UNIT_TEST
from lmr_author.checks.installs import name_in, normalised, requirements
from lmr_author.checks.pairing import pairs
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity
from lmr_author.texts import listed

INSTALL = "RUN pip install --no-cache-dir -r /tmp/requirements.lock"

_UNPINNED = DOCKERFILE.replace(
    "COPY requirements.lock /tmp/requirements.lock", "COPY ${DIR}/requirements.txt /tmp/"
).replace("/tmp/requirements.lock", "/tmp/requirements.txt")

_REDIRECT = re.compile(r"^[A-Za-z0-9_.\[\],-]*[A-Za-z0-9_\]](?:\s*[<>]=?|>)[=~]?\s*\d")

_SPACED = re.compile(r"(?<=\s)[A-Za-z][\w.\[\]-]*\s+[<>]=?\s*\d[\w.]*(?=\s|$)")
_EXACT = re.compile(r"===?\s*[\w.]+(?!\.\*)|@\s*\S|[0-9a-f]{7,40}$|\.whl\b")

_MODEL = re.compile(
    r"from_pretrained|snapshot_download|hf_hub_download|(?:huggingface-cli|\bhf)"
    r" download|load_dataset\(|nltk\.download(?!er -d /usr/share/nltk_data )"
    r"|git clone \S*huggingface\.co|spacy download|\bgdown\b|torch\.hub\.load|git lfs (?:pull|clone|fetch)"
    r"|SentenceTransformer\("
    r"|(?:\bpython3?|\bbash|\bsh)\s+\S*download\w*\.(?:py|sh)\b|\./\S*download\w*\.sh\b"
)

_FETCH = re.compile(r"\b(?:wget|curl|aria2c)\b.*?(https?://\S+)", re.DOTALL)

_DATA = re.compile(
    r"huggingface\.co|drive\.google|dl\.fbaipublicfiles|zenodo|figshare|dropbox|\.(?:pt|pth|bin|ckpt|safetensors|h5|npz|npy|pkl|jsonl?|csv|zip|tar|tgz|tar\.gz|vec|model)(?:[?\"'\s]|$)"
)


class QuotedVersions(DockerCheck):
    code = "LMR203"
    title = "version ranges on a command line are quoted"
    fixable = True
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
        Example("by poetry", files=changed(INSTALL, INSTALL + "\nRUN poetry add torch>=2.5")),
        Example("by a tab", files=changed(INSTALL, INSTALL + "\nRUN\tpip install torch>=2.5")),
        Example("by a shell", files=changed(INSTALL, INSTALL + '\nRUN bash -c "pip install numpy<2"')),
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
            bare = _without_quotes(shell_text(item.text))
            found = []
            for command in re.split(r"&&|\|\||;|\n", bare):
                if _INSTALLER.search(command):
                    found += [word for word in command.split() if _REDIRECT.match(word)]
                    found += [match[0].strip() for match in _SPACED.finditer(command)]
            if found:
                yield self.at(
                    view,
                    item.line,
                    f"{', '.join(found)} is not quoted: the shell takes it for a redirection",
                    f'write "{found[0]}" in quotes, or better pin it with ==',
                )


_INSTALLER = re.compile(r"(?i)\b(pip[\d.]*|pipenv|conda|mamba|uv|poetry|pdm|rye)\b.*\b(install|add)\b")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.", re.DOTALL)


def _without_quotes(text: str) -> str:
    """Shell text with what is quoted or escaped replaced by a letter."""
    return _QUOTED.sub("q", text)


_FIRST = frozenset({"torch", "tensorflow", "jax", "transformers", "numpy"})
"""Packages on whose versions results depend most."""


class Pinned(DockerCheck):
    code = "LMR207"
    title = "what is installed is pinned"
    rationale = (
        "Unpinned requirements mean another environment each month; tests that compare numbers fail for"
        " reasons nobody can find."
    )
    severity = Severity.WARNING
    failing = (
        Example("the repository's own, unpinned requirements", files={"Dockerfile": _UNPINNED}),
        Example("names given to poetry", files=changed(INSTALL, "RUN poetry add numpy@^1.26 scipy")),
        Example("names on the command line", files=changed(INSTALL, "RUN pip install numpy scipy")),
    )
    passing = (
        Example("a lock"),
        Example(
            "pinned for poetry", files=changed(INSTALL, "RUN poetry add -G dev numpy@1.26.4 scipy==1.11.4")
        ),
        Example("pinned on the command line", files=changed(INSTALL, "RUN pip install numpy==1.26.4")),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """At most one finding: when nothing is pinned at all, or (a note) when something is not."""
        pinned: list[str] = []
        loose: list[str] = []
        hidden: list[str] = []
        line = 0
        for item, requirement in requirements(view, parsed):
            bare = _without_quotes(shell_text(item.text))
            redirected = re.search(r"(?<!\S)" + re.escape(requirement) + r"\s+[<>]=?\s*\d", bare)
            if requirement in bare and (re.search("[<>]", requirement) or redirected):
                line = line or item.line
                hidden.append(name_in(requirement))  # LMR203: the shell never shows the version to pip
                continue
            name = name_in(requirement)
            exact = _EXACT.search(requirement.partition(" #")[0])
            (pinned if exact else loose).append(name)
            line = line or (0 if exact else item.line)
        loose.sort(key=lambda name: normalised(name) not in _FIRST)  # of a long list, these are to be seen
        said = listed(list(dict.fromkeys(loose)), 6)
        if (loose or hidden) and not pinned:
            said = listed(list(dict.fromkeys([*hidden, *loose])), 6)
            yield self.at(
                view,
                line,
                f"nothing is pinned: {said}",
                "pin each of them, as name==version",
            )
        elif loose:
            yield self.at(
                view,
                line,
                f"not pinned: {said}",
                "add ==version",
                Severity.NOTE,
            )


class NoDownloads(DockerCheck):
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
        Example(
            "NLTK's data, which code without a network finds there by name",
            files=changed(
                "USER agent\n", "RUN python -m nltk.downloader -d /usr/share/nltk_data punkt\nUSER agent\n"
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
        Example(
            "nobody makes the folder that is taken where the environment names none",
            files={
                f"{REPOSITORY}/unit_test/unit_test_1.py": UNIT_TEST.replace(
                    "os.makedirs(LOGS, exist_ok=True)\n", ""
                ).replace('os.path.join(HERE, "logs")', 'os.environ.get("LOGS", os.path.join(HERE, "logs"))')
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
        from lmr_author.checks.reading import reading_of

        if view.repository is None:
            return
        made_by_image = " ".join(
            command for _, command in parsed.commands if "mkdir" in command or "install -d" in command
        )
        folders = {entry.relative for entry in view.entries if entry.kind == "folder"}
        for one in pairs(view):
            test = reading_of(view, one.implementation)
            if test is None or test.makes_folders:
                continue
            for folder in test.log_folders:
                last = folder.rstrip("/").rpartition("/")[2]
                there = not folder.startswith("/") and any(name.endswith("/" + last) for name in folders)
                if not last or last in made_by_image or there:
                    continue
                yield self.finding(
                    view,
                    f"logs into {folder}, and nothing makes that folder",
                    "call os.makedirs(..., exist_ok=True) in the test, or `RUN mkdir -p` in the Dockerfile",
                    implementation=one.implementation,
                    path=test.path,
                )
                break

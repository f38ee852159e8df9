"""LMR406: the published package that contains the solution."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmr_author.checks.base import Example
from lmr_author.checks.docker_image import DockerCheck, changed
from lmr_author.checks.dockerfile import Dockerfile
from lmr_author.checks.example_texts import REPOSITORY
from lmr_author.checks.installs import normalised, package_of, requirements
from lmr_author.checks.published import SOURCES, Published, published
from lmr_author.checks.scan import plain_names, scan
from lmr_author.checks.view import MAX_PYTHON, TaskView
from lmr_author.model import Finding, Severity

INSTALL = "RUN pip install --no-cache-dir -r /tmp/requirements.lock"


class OwnPackageInstalled(DockerCheck):
    code = "LMR406"
    title = "the image does not install the published package that contains the solution"
    rationale = (
        "With the package in site-packages the solution is one `inspect.getsource` away, and a test may"
        " import it instead of the goal file. A package that has the repository's, or its package's, name and that no"
        " build file of the repository names may be somebody else's: a warning."
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
        Example(
            "a library from which other code takes a function of the target's name",
            files={
                "requirements.lock": "numpy==1.26.4\nrank-losses==2.0\n",
                f"{REPOSITORY}/ranking/baseline.py": "from rank_losses.pairs import (\n    pairwise_loss,\n)\n",
                f"{REPOSITORY}/third_party/rank_losses/__init__.py": "",
            },
        ),
        Example(
            "a clone of the original",
            files=changed(
                "USER agent\n", "RUN git clone https://example.org/code/margin-ranking\nUSER agent\n"
            ),
        ),
    )
    passing = (
        Example(
            "a function of the target's name in a module of the repository, which is named like a package",
            files={
                "requirements.lock": "numpy==1.26.4\nrank-losses==2.0\n",
                f"{REPOSITORY}/ranking/baseline.py": "from rank_losses import pairwise_loss\n",
                f"{REPOSITORY}/rank_losses.py": "def pairwise_loss():\n    raise NotImplementedError\n",
            },
        ),
        Example(
            "a function of the target's name in a module that is not installed",
            files={f"{REPOSITORY}/ranking/baseline.py": "from rank_losses.pairs import pairwise_loss\n"},
        ),
        Example(
            "the repository itself, which is masked",
            files=changed(INSTALL, INSTALL + " && pip install -e /workspace/${DIR}"),
        ),
    )

    def run_file(self, view: TaskView, parsed: Dockerfile) -> Iterator[Finding]:
        """One finding for each requirement, and for each command that fetches the original."""
        names, namesakes = published(view), _namesakes(view)
        installed: set[int] = set()
        for item, requirement in requirements(view, parsed):
            sure = is_own(names, requirement)
            function, path = namesakes.get(package_of(requirement), ("", ""))
            if sure is None and function:
                yield self.at(
                    view,
                    item.line,
                    f"installs {requirement!r:.100}, from which {path} imports a function {function}, too",
                    "look whether it is the solution; if it is, take another target",
                    Severity.WARNING,
                )
            if sure is None:
                continue
            installed.add(item.line)
            here = requirement in item.text
            yield self.at(
                view,
                item.line,
                f"installs {requirement!r:.100}, {'' if sure else 'by its name '}the package that contains the solution"
                + ("" if here else " (from a requirements file)"),
                "remove it; the tests import the repository's own files"
                if sure
                else "look whether it is the authors' own; if so, remove it: the tests import the repository's files",
                None if sure else Severity.WARNING,
            )
        for item in parsed.named("RUN", "ADD"):
            if names.address and item.line not in installed and fetches(names.address, item.text):
                yield self.at(
                    view,
                    item.line,
                    f"fetches the original repository, {names.address}",
                    "remove it; the image gets the masked repository by COPY",
                )


def is_own(names: Published, requirement: str) -> bool | None:
    """Whether a requirement surely (True) or probably (False) contains the goal file; None when neither."""
    name = package_of(requirement)
    text = requirement.lower()
    if name in names.sure or (names.address and _names_address(names.address, text)):
        return True
    egg, fork = _EGG.search(text), _FORK.search(text)
    known = names.sure | names.likely
    if (egg and normalised(egg[1]) in known) or (fork and names.repository and fork[1] == names.repository):
        return False
    return False if name in names.likely else None


_EGG = re.compile(r"[#&]egg=([\w.-]+)")
_FORK = re.compile(r"://[^/\s]+/[^/\s]+/([\w.-]+?)(?:\.git)?(?:[/@#]|$)")


def _namesakes(view: TaskView) -> dict[str, tuple[str, str]]:
    """Package → name of a target and a file that imports a function of that name from the package."""
    naming = scan(view).naming
    if not naming:
        return {}
    words = "|".join(map(re.escape, plain_names(view))) or "(?!)"
    pattern = re.compile(
        rf"^[ \t]*from[ \t]+(\w+)[\w.]*[ \t]+import[ \t]+(?:\([^)]*|[^\n(#]*)\b({words})\b".encode(), re.M
    )
    found: dict[str, tuple[str, str]] = {}
    for entry in naming:
        own = _importable(view, entry.folder)
        data = view.read_entry(entry, MAX_PYTHON) or b""
        for match in pattern.finditer(data):
            package, name = match[1].decode(), match[2].decode()
            if package not in own:
                found.setdefault(normalised(package), (name, view.in_repository(entry)))
    return found


def _importable(view: TaskView, folder: str) -> set[str]:
    """The modules of the repository that a file in a folder imports by their names alone.

    What lies deeper, as a vendored ``third_party/transformers``, is none.
    """
    root = view.relative_raw(view.repository) if view.repository else ""
    places = {root, folder, *(f"{root}/{name}" for name in SOURCES)}
    return {entry.name.removesuffix(".py") for entry in view.repository_entries if entry.folder in places}


def _names_address(address: str, text: str) -> bool:
    plain = text.replace("git@", "").replace(":", "/")
    return address in plain and re.search(rf"(?<![\w-]){re.escape(address)}(?![\w-])", plain) is not None


_FETCHES = re.compile(r"\bgit\s+clone\b|\bcurl\b|\bwget\b|^https?://")


def fetches(address: str, text: str) -> bool:
    """Whether a command clones or downloads from an address."""
    return _FETCHES.search(text) is not None and _names_address(address, text.lower())

"""LMR406: the published package that contains the solution."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmr_author.checks.base import Example
from lmr_author.checks.docker_image import DockerCheck, changed
from lmr_author.checks.dockerfile import Dockerfile
from lmr_author.checks.example_task import REPOSITORY
from lmr_author.checks.installs import (
    normalised,
    package_names,
    requirements,
)
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity

INSTALL = "RUN pip install --no-cache-dir -r /tmp/requirements.lock"


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

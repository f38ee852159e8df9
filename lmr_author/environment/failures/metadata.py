"""Failures of the smoke test: the code asks which version of a package is installed."""

from __future__ import annotations

import re

from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled


class NoMetadata(Explainer):
    """Mostly the repository's own package, which is never installed: its published form holds the solution."""

    name = "no-metadata"
    stages = ("import",)
    pattern = compiled(
        r"PackageNotFoundError: (?:No package metadata was found for )?([\w.-]+)$",
        r"DistributionNotFound: The '([\w.-]+)[^']*' distribution was not found",
    )
    examples = (
        Example(
            "importlib.metadata.PackageNotFoundError: No package metadata was found for my_pkg",
            "which version of my_pkg is installed",
            "`lmr-author env local`",
            "import",
        ),
        Example(
            "importlib_metadata.PackageNotFoundError: my-pkg",
            "which version of my-pkg is installed",
            "`lmr-author env dockerfile`",
            "import",
        ),
        Example(
            "pkg_resources.DistributionNotFound: The 'my-pkg>=1' distribution was not found and is required by the"
            " application",
            "which version of my-pkg is installed",
            "requirements.lock",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Nothing is installed by itself: where it is the repository's own package, that would be the solution."""
        name = match[1] or match[2]
        return self.told(
            f"the code asks which version of {name} is installed, and it is not",
            "where that is the repository's own package, `lmr-author env local` and `lmr-author env dockerfile` make"
            " an environment that tells its version without its code; else add it to requirements.lock",
        )

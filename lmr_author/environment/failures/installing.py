"""Failures of pip and uv: what they cannot find or will not install."""

from __future__ import annotations

import re

from packaging.utils import canonicalize_name

from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.building import NeedsModuleToBuild, OldSetuptools, Unbuildable
from lmr_author.environment.failures.changes import Drop, Relaxed, Requirements, Variable, Wheel
from lmr_author.environment.failures.compiling import MissingHeader
from lmr_author.environment.recipe import BUILT_WITH_TORCH

RENAMED = {
    "sklearn": "scikit-learn",
    "cv2": "opencv-python-headless",
    "pil": "pillow",
    "yaml": "pyyaml",
    "bs4": "beautifulsoup4",
    "skimage": "scikit-image",
    "attr": "attrs",
    "dotenv": "python-dotenv",
    "pytorch": "torch",
}
"""Names that people write and that are no package, or one that only says so."""


class ExternallyManaged(Explainer):
    """PEP 668: the distribution's Python refuses pip."""

    name = "externally-managed"
    stages = ("build",)
    pattern = compiled(r"externally-managed-environment", r"This environment is externally managed")
    examples = (
        Example(
            "error: externally-managed-environment\n\n× This environment is externally managed\nhint: See PEP"
            " 668 for the detailed specification.",
            "refuses pip",
            "PIP_BREAK_SYSTEM_PACKAGES=1",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """The image is ours alone, so there is nothing to protect."""
        return self.fixable(
            "the base image's Python refuses pip (PEP 668)", Variable("PIP_BREAK_SYSTEM_PACKAGES", "1")
        )


class HashMismatch(Explainer):
    """What the index sends is not what was locked."""

    name = "hash-mismatch"
    stages = ("build", "install")
    pattern = compiled(r"DO NOT MATCH THE HASHES[\s\S]*?\n\s+(\S+) from", r"Hash mismatch for `([^`]+)`")
    examples = (
        Example(
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated"
            " the package versions, please update the hashes.\n    einops==0.6.0 from"
            " https://files.example.org/packages/4b/f7/einops-0.6.0-py3-none-any.whl:\n        Expected"
            " sha256 0000\n             Got        c7b1",
            "einops==0.6.0 is not the file that was locked",
            "env lock",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Never fixed by itself: it may be an attack."""
        name = next(group for group in match.groups() if group)
        return self.told(
            f"{name} is not the file that was locked",
            "find out why the index has another file; if it is right, lock again: `lmr-author env lock`",
        )


class Contradiction(Explainer):
    """Requirements that exclude one another."""

    name = "conflict"
    stages = ("build", "install")
    pattern = compiled(
        r"Cannot install ([^\n]*?) because these package versions have conflicting dependencies",
        r"ResolutionImpossible",
        r"No solution found when resolving dependencies:[\s\S]*?(Because [\s\S]*?unsatisfiable)",
    )
    examples = (
        Example(
            "ERROR: Cannot install numpy<1.20 and numpy==1.26.0 because these package versions have"
            " conflicting dependencies.\n\nThe conflict is caused by:\n    The user requested numpy==1.26.0\n"
            "    The user requested numpy<1.20\n\nERROR: ResolutionImpossible: for help visit …",
            "numpy<1.20 and numpy==1.26.0 exclude one another",
            "env lock --relax",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """Which requirements exclude one another, as pip or uv name them."""
        who = " ".join(next((group for group in match.groups() if group), "requirements").split())
        if (
            "was not found" in who
            or "there is no version" in who
            or "no wheels" in who
            or "was filtered" in who
        ):
            return None
        cause = f"{who} exclude one another" if not who.startswith("Because") else who
        change = Relaxed()
        return self.told(cause, f"{change}; `lmr-author env lock` shows what can give way", change)


class NoVersion(Explainer):
    """A name or version that the index does not have for this Python."""

    name = "no-version"
    stages = ("build", "install")
    pattern = compiled(
        r"satisfies the requirement (?P<pip>[^\s(]+)[^\n]*\(from versions: (?P<versions>[^)\n]*)",
        r"No matching distribution found for (?P<none>\S+)",
        r"Because (?P<uv>[\w.-]+) was not found in the package registry",
        r"Because there is no version of (?P<uvversion>\S+)",
        r"Because (?P<wheel>[\w.-]+==[\w.+!-]+) has no (?:wheels|usable wheels)[^\n]*",
        r"requires a different Python: [^\n]*",
    )
    examples = (
        Example(
            "ERROR: Could not find a version that satisfies the requirement lmr-no-such-package==1.0 (from"
            " versions: none)\nERROR: No matching distribution found for lmr-no-such-package==1.0",
            "the package index has no lmr-no-such-package",
            "leave lmr-no-such-package out",
        ),
        Example(
            "ERROR: Ignored the following versions that require a different python version: 1.21.2"
            " Requires-Python >=3.7,<3.11\nERROR: Could not find a version that satisfies the requirement"
            " numpy==1.21.2 (from versions: 1.3.0, 1.26.4)\nERROR: No matching distribution found for"
            " numpy==1.21.2",
            "there is no numpy==1.21.2 for the image's Python",
            "env lock",
        ),
        Example(
            "ERROR: Could not find a version that satisfies the requirement numpy==99.1 (from versions:"
            " 1.3.0, 1.26.4)\nERROR: No matching distribution found for numpy==99.1",
            "there is no numpy==99.1 for the image's Python",
            "env lock",
        ),
        Example(
            "  × No solution found when resolving dependencies:\n  ╰─▶ Because there is no version of"
            " numpy==99.1 and you require numpy==99.1, we can conclude that your requirements are"
            " unsatisfiable.",
            "there is no numpy==99.1 for the image's Python",
            "env lock",
            stage="install",
        ),
        Example(
            "ERROR: Could not find a version that satisfies the requirement flash-attn==9 (from versions:"
            " none)",
            "flash-attn",
            "PyTorch and a CUDA compiler",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Whether the name or only the version is unknown. What may be left out is decided where it is."""
        groups = match.groupdict()
        text = next(
            (groups[key] for key in ("pip", "none", "uv", "uvversion", "wheel") if groups.get(key)),
            "a package",
        )
        name = canonicalize_name(re.split(r"[<>=!~\[;@ ]", text)[0])
        unknown = (groups.get("versions") or "").strip() == "none" or bool(groups.get("uv"))
        drop = Drop(name, "the package index has nothing that fits the image's Python")
        if name in BUILT_WITH_TORCH:
            return self.told(
                f"there is no wheel of {name}",
                f"its source needs PyTorch and a CUDA compiler to be installed: use a -devel base image and a RUN of "
                f"its own; or {drop}",
                drop,
            )
        if name in RENAMED:
            return self.fixable(f"the package index has no {name}", Requirements((RENAMED[name],)))
        if unknown:
            return self.told(
                f"the package index has no {name} for the image's Python",
                f"correct its name, or {drop}",
                drop,
            )
        wheel = Wheel(name)
        return self.told(
            f"there is no {text} for the image's Python",
            "lock again for the Python that the image has (`lmr-author env lock --relax`), or choose another base"
            f" image; or {wheel}; or {drop}, if no code imports it",
            wheel,
        )


SURE: tuple[type[Explainer], ...] = (
    ExternallyManaged,
    HashMismatch,
    MissingHeader,
    OldSetuptools,
    NeedsModuleToBuild,
)
"""What says itself why; the rest may be the consequence of a program that is missing."""

INSTALLING: tuple[type[Explainer], ...] = (Contradiction, NoVersion, Unbuildable)

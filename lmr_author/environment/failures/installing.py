"""Failures of pip and uv: what they cannot find, will not install, or cannot compile."""

from __future__ import annotations

import re

from packaging.utils import canonicalize_name

from lmr_author.environment.failures import system_packages
from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.changes import Drop, Requirements, SystemPackages, Variable, Wheel
from lmr_author.environment.failures.dockerfiles import being_built
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
        change = Variable("PIP_BREAK_SYSTEM_PACKAGES", "1")
        return self.told("the base image's Python refuses pip (PEP 668)", str(change), change)


class HashMismatch(Explainer):
    """What the index sends is not what was locked."""

    name = "hash-mismatch"
    stages = ("build", "install")
    pattern = compiled(r"DO NOT MATCH THE HASHES[\s\S]*?\n\s+(\S+) from", r"Hash mismatch for `([^`]+)`")
    examples = (
        Example(
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated"
            " the package versions, please update the hashes.\n    einops==0.6.0 from"
            " https://files.pythonhosted.org/packages/4b/f7/einops-0.6.0-py3-none-any.whl:\n        Expected"
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


class MissingHeader(Explainer):
    """A C or C++ header."""

    name = "missing-header"
    stages = ("build", "install")
    pattern = compiled(
        r"fatal error: '?([\w./+-]+)'?(?:: No such file or directory| file not found)",
        r"make sure the (libxml2) and libxslt development packages",
    )
    examples = (
        Example(
            "      editdistance/bycython.cpp:24:10: fatal error: Python.h: No such file or directory\n     "
            " error: command '/usr/bin/x86_64-linux-gnu-gcc' failed with exit code 1\nerror:"
            " legacy-install-failure\n\n╰─> editdistance",
            "editdistance is compiled, and the header Python.h is missing",
            "python3-dev",
        ),
        Example(
            "      src/pyaudio/device_api.c:9:10: fatal error: portaudio.h: No such file or directory\n"
            "  ERROR: Failed building wheel for pyaudio",
            "pyaudio is compiled, and the header portaudio.h is missing",
            "portaudio19-dev",
        ),
        Example(
            "      pygraphviz/graphviz_wrap.c:3020:10: fatal error: graphviz/cgraph.h: No such file or"
            " directory",
            "graphviz/cgraph.h",
            "libgraphviz-dev",
        ),
        Example(
            "      Error: Please make sure the libxml2 and libxslt development packages are installed.",
            "libxml2",
            "libxml2-dev, libxslt1-dev",
        ),
        Example(
            "x.cu:1:10: fatal error: cuda_runtime.h: No such file or directory", "cuda_runtime.h", "-devel"
        ),
        Example("x.cc:1:10: fatal error: my_own.h: No such file or directory", "my_own.h", "which package"),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """By the header's name."""
        name = next(group for group in match.groups() if group)
        compiling = being_built(failure.text)
        cause = f"{compiling or 'a package'} is compiled, and the header {name} is missing"
        if re.match(r"(cuda|cublas|cudnn|cusparse|nccl|nv)[\w./]*\.h$", name):
            return self.told(cause, "use a -devel base image, which has CUDA's headers")
        packages: tuple[str, ...]
        if name == "libxml2":
            packages = ("libxml2-dev", "libxslt1-dev")
        else:
            packages = tuple(filter(None, (system_packages.header(name),)))
        if not packages:
            return self.told(
                cause, "find out which package of Debian has it (packages.debian.org), and install that"
            )
        change = SystemPackages(packages)
        return self.told(cause, str(change), change)


class NeedsTorchToBuild(Explainer):
    """A package whose setup.py imports what is only there when pip's build isolation is off."""

    name = "build-needs-module"
    stages = ("build", "install")
    pattern = compiled(
        r"ModuleNotFoundError: No module named '([\w.]+)'[\s\S]*?"
        r"(?:metadata-generation-failed|Getting requirements to build wheel|legacy-install-failure|Failed"
        r" building wheel"
        r"|Failed to build|subprocess-exited-with-error)",
        r"(?:metadata-generation-failed|subprocess-exited-with-error|Failed to build)[\s\S]*?"
        r"ModuleNotFoundError: No module named '([\w.]+)'",
    )
    examples = (
        Example(
            "          import torch\n      ModuleNotFoundError: No module named 'torch'\n      [end of"
            " output]\n\nerror: metadata-generation-failed",
            "needs torch before it is installed",
            "--no-build-isolation",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Build isolation hides what is installed."""
        name = next(group for group in match.groups() if group)
        culprit = being_built(failure.text)
        return self.told(
            f"the source of {culprit or 'a package'} needs {name} before it is installed, and pip builds it"
            " apart",
            f"install {culprit or 'it'} in a RUN of its own, after the others, with --no-build-isolation; "
            "for CUDA code on a -devel base image",
        )


class OldSource(Explainer):
    """A setup.py for another Python, or one that refuses on purpose."""

    name = "cannot-be-built"
    stages = ("build", "install")
    pattern = compiled(
        r"(use_2to3 is invalid)",
        r"(Missing parentheses in call to 'print')",
        r"(can't find Rust compiler)",
        r"(The 'sklearn' PyPI package is deprecated)",
        r"(longintrepr\.h: No such file)",
        r"((?:too (?:few|many) arguments to function|has no member named|was not declared)[^\n]*)",
        r"(metadata-generation-failed)",
        r"(Failed building wheel)",
        r"(legacy-install-failure)",
        r"(Failed to build [^\n]*)",
        r"(Could not build wheels for [^\n]*)",
        r"(Microsoft Visual C\+\+)",
    )
    examples = (
        Example(
            "Collecting tokenizers==0.13.3\n      error: can't find Rust compiler\n  ERROR: Failed building"
            " wheel for tokenizers\nERROR: Could not build wheels for tokenizers, which is required",
            "no wheel of tokenizers for the image's Python",
            "pin tokenizers at the first later version that has a wheel",
        ),
        Example(
            "      SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?\n      [end"
            " of output]\nerror: metadata-generation-failed",
            "written for Python 2",
            "newer version",
        ),
        Example(
            "      The 'sklearn' PyPI package is deprecated, use 'scikit-learn'\n      rather than 'sklearn'"
            " for pip commands.\nerror: metadata-generation-failed",
            "sklearn is only a name",
            "scikit-learn",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """The last resort of everything that is compiled: ordered last among those."""
        said = next(group for group in match.groups() if group)
        name = being_built(failure.text)
        name = name if name and name != "See" else _collected(failure.text)
        if "sklearn" in said:
            change = Requirements(("scikit-learn",))
            return self.told(
                "sklearn is only a name that refuses to be installed", f"{change}; remove sklearn", change
            )
        if "print" in said:
            return self.told(
                f"the source of {name or 'a package'} is written for Python 2", "pin a newer version of it"
            )
        cause = (
            f"there is no wheel of {name or 'a package'} for the image's Python, and its source cannot be"
            f" built ({said})"
        )
        advice = "use a base image with an older Python, or `lmr-author env lock --relax`"
        if not name:
            return self.told(cause, advice)
        wheel = Wheel(canonicalize_name(name))
        return self.told(cause, f"{wheel}; or {advice}", wheel)


def _collected(text: str) -> str:
    """The package that pip was busy with last, "" when it does not say."""
    names = re.findall(r"^\s*Collecting ([\w.-]+)", text, re.M)
    return names[-1] if names else ""


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
            "env lock",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """Who says what."""
        who = " ".join(next((group for group in match.groups() if group), "requirements").split())
        if (
            "was not found" in who
            or "there is no version" in who
            or "no wheels" in who
            or "was filtered" in who
        ):
            return None
        cause = f"{who} exclude one another" if not who.startswith("Because") else who
        return self.told(cause, "lock again, which shows what can give way: `lmr-author env lock`")


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
        """Whether the name or only the version is unknown, and whether we guessed it."""
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
            change = Requirements((RENAMED[name],))
            return self.told(f"the package index has no {name}", str(change), change)
        if unknown:
            return self.told(
                f"the package index has no {name} for the image's Python",
                f"correct its name, or {drop}",
                drop,
            )
        return self.told(
            f"there is no {text} for the image's Python",
            "lock again for the Python that the image has (`lmr-author env lock`), or choose another base"
            f" image; or {drop}",
            drop,
        )


INSTALLING: tuple[type[Explainer], ...] = (
    ExternallyManaged,
    HashMismatch,
    MissingHeader,
    NeedsTorchToBuild,
    Contradiction,
    NoVersion,
    OldSource,
)

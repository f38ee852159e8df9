"""Failures of a build: a package has to be compiled from its source, and cannot be."""

from __future__ import annotations

import re

from packaging.utils import canonicalize_name

from lmr_author.environment.failures import system_packages
from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.changes import Requirements, SystemPackages, Wheel
from lmr_author.environment.failures.dockerfiles import being_built


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

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """By the header's name; one that Python no longer has tells of an old source (:class:`OldSource`)."""
        name = next(group for group in match.groups() if group)
        if name == "longintrepr.h":
            return None
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
            "  Building wheel for fastbpe (setup.py): started\n      fastBPE/fastBPE.cpp:216:12: fatal error:"
            " longintrepr.h: No such file or directory\n  ERROR: Failed building wheel for fastbpe",
            "no wheel of fastbpe",
            "pin fastbpe at the first later version",
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

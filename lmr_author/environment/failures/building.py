"""Failures of a build: a package has to be made from its source, and its setup.py or build backend fails."""

from __future__ import annotations

import re
import sys

from packaging.utils import canonicalize_name

from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.changes import BuiltWith, Change, Requirements, Wheel
from lmr_author.environment.failures.pip_output import FAILED_STEP, culprit, inner_error
from lmr_author.environment.imports import package_names
from lmr_author.environment.recipe import BUILT_WITH_TORCH
from lmr_author.model import TORCH_FAMILY

_OLD_SETUPTOOLS = (
    (r"use_2to3 is invalid", 58),
    (r"cannot import name 'Feature' from 'setuptools'", 46),
    (r"No module named 'distutils\.msvccompiler'|cannot import name 'msvccompiler' from 'distutils'", 65),
    (r"module 'setuptools\.dep_util'|No module named 'setuptools\.dep_util'", 69),
    (r"No module named 'setuptools\.command\.test'", 72),
    (r"Invalid dash-separated key", 78),
    (r"No module named 'pkg_resources'", 81),
)
"""What setup.py says, and the first setuptools that lacks what it needs (setuptools.pypa.io, history)."""


class OldSetuptools(Explainer):
    """A setup.py that needs what setuptools no longer has."""

    name = "setuptools-too-new"
    stages = ("build", "install")
    pattern = compiled(*(pattern for pattern, _ in _OLD_SETUPTOOLS))
    examples = (
        Example(
            "Collecting demjson==2.2.4\n  Preparing metadata (setup.py): finished with status 'error'\n"
            "  error: subprocess-exited-with-error\n  × python setup.py egg_info did not run successfully.\n"
            "  ╰─> [1 lines of output]\n      error in demjson setup command: use_2to3 is invalid.\n"
            "      [end of output]\nerror: metadata-generation-failed",
            "demjson needs a setuptools before 58",
            "build demjson with setuptools<58",
        ),
        Example(
            "Collecting numpy==1.17.2\n  × Getting requirements to build wheel did not run successfully.\n"
            "  ╰─> [9 lines of output]\n      ModuleNotFoundError: No module named 'distutils.msvccompiler'\n"
            "      [end of output]",
            "numpy needs a setuptools before 65",
            "build numpy with setuptools<65",
        ),
        Example(
            "Collecting preshed==2.0.1\n  × Getting requirements to build wheel did not run successfully.\n"
            "  ╰─> [9 lines of output]\n      ImportError: cannot import name 'msvccompiler' from 'distutils'"
            " (/x/setuptools/_distutils/__init__.py)\n      [end of output]",
            "preshed needs a setuptools before 65",
            "build preshed with setuptools<65",
        ),
        Example(
            "ModuleNotFoundError: No module named 'pkg_resources'\n  [end of output]\nERROR: Failed to build 'old' when"
            " getting requirements to build wheel",
            "old needs a setuptools before 81",
            "build old with setuptools<81",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """By what is missing; while something is built only: a library may say the same when it is imported."""
        if not re.search(FAILED_STEP, failure.text):
            return None
        below = next(version for pattern, version in _OLD_SETUPTOOLS if re.search(pattern, match[0], re.I))
        name = culprit(failure.text)
        cause = f"the source of {name or 'a package'} needs a setuptools before {below} ({match[0]})"
        change = _built_with(name, (f"setuptools<{below}", "wheel"))
        by_hand = "build it with an older setuptools and --no-build-isolation, or pin a later version of it"
        return self.told(cause, f"{change}; or pin a later version of it" if change else by_hand, change)


class NeedsModuleToBuild(Explainer):
    """A package whose setup.py imports what is only there when pip's build isolation is off."""

    name = "build-needs-module"
    stages = ("build", "install")
    pattern = compiled(
        r"ModuleNotFoundError: No module named '([\w.]+)'[\s\S]*?" + FAILED_STEP,
        FAILED_STEP + r"[\s\S]*?ModuleNotFoundError: No module named '([\w.]+)'",
        FAILED_STEP + r"[\s\S]*?ImportError: ([\w.]+) (?:is|must be) (?:required|installed)",
    )
    examples = (
        Example(
            "          import torch\n      ModuleNotFoundError: No module named 'torch'\n      [end of"
            " output]\n\nerror: metadata-generation-failed",
            "needs torch before it is installed",
            "--no-build-isolation",
        ),
        Example(
            "Collecting youtokentome==1.0.6\n  × Getting requirements to build wheel did not run successfully.\n"
            "  ╰─> [20 lines of output]\n          from Cython.Build import cythonize\n"
            "      ModuleNotFoundError: No module named 'Cython'\n      [end of output]",
            "youtokentome needs Cython before it is installed",
            "build youtokentome with setuptools, wheel, cython",
        ),
        Example(
            '        File "/tmp/pip-install-8vqfnxiy/pysqlite-binary_4d1a6e58562c43cfa99602d4eaf16cb5/.eggs/setuptools'
            '_scm-10.3.4-py3.11.egg/setuptools_scm/__init__.py", line 9, in <module>\n'
            "          from vcs_versioning import Configuration\n"
            "      ModuleNotFoundError: No module named 'vcs_versioning'\n      [end of output]\nerror:"
            " metadata-generation-failed\n\n× Encountered error while generating package metadata.\n"
            "╰─> See above for output.",
            "pysqlite-binary needs vcs_versioning",
            "build pysqlite-binary with setuptools, wheel, setuptools-scm",
        ),
        Example(
            "Collecting flash-attn==2.5.6\n  × Getting requirements to build wheel did not run successfully.\n"
            "  ╰─> [17 lines of output]\n      ModuleNotFoundError: No module named 'torch'\n      [end of output]",
            "flash-attn needs torch",
            "-devel base image",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Build isolation hides what is installed."""
        module = next(group for group in match.groups() if group)
        name = culprit(failure.text)
        cause = f"the source of {name or 'a package'} needs {module} before it is installed, and pip builds it apart"
        by_hand = f"install {name or 'it'} in a RUN of its own, after the others, with --no-build-isolation"
        if canonicalize_name(name) in BUILT_WITH_TORCH or not name:
            return self.told(cause, f"{by_hand}; for CUDA code on a -devel base image")
        # Of setup_requires, setuptools fetches what is newest today; one of the commit's day does not need that.
        egg = re.search(r"/\.eggs/([\w.]+)-\d[^/]*\.egg/", failure.text)
        wanted = egg[1] if egg else package_names().get(module.partition(".")[0], module.partition(".")[0])
        needed = canonicalize_name(wanted)
        own = needed in TORCH_FAMILY or module.partition(".")[0] in sys.stdlib_module_names
        change = _built_with(name, ("setuptools", "wheel", *(() if own else (needed,))))
        return self.told(cause, f"{change}; or {by_hand}", change)


class Unbuildable(Explainer):
    """A setup.py for another Python, one that refuses on purpose, or whatever else it says."""

    name = "cannot-be-built"
    stages = ("build", "install")
    pattern = compiled(
        r"(Missing parentheses in call to '(?:print|exec)')",
        r"(multiple exception types must be parenthesized|leading zeros in decimal integer literals)",
        r"(can't find Rust compiler)",
        r"(The 'sklearn' PyPI package is deprecated)",
        r"(longintrepr\.h: No such file)",
        r"((?:too (?:few|many) arguments to function|has no member named|was not declared)[^\n]*)",
        r"(unable to detect version for [^\n]*)",
        r"(CUDA_HOME environment variable is not set|nvcc was not found)",
        r"(metadata-generation-failed)",
        r"(Getting requirements to build wheel did not run successfully)",
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
            "  Building wheel for fastbpe (setup.py): started\n  ╰─> [9 lines of output]\n"
            "      fastBPE/fastBPE.cpp:216:12: fatal error: oldthing.h: gone\n"
            "      error: Command '['x86_64-linux-gnu-g++', '-Wall']' returned non-zero exit status 1\n"
            "      [end of output]\n  ERROR: Failed building wheel for fastbpe",
            "cannot be built (oldthing.h: gone)",
            "pin fastbpe at the first later version",
        ),
        Example(
            "      SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?\n      [end"
            " of output]\nerror: metadata-generation-failed",
            "written for Python 2",
            "newer version",
        ),
        Example(
            "Collecting fairseq==0.10.2\n  × Getting requirements to build wheel did not run successfully.\n"
            "  │ exit code: 1\n  ╰─> [34 lines of output]\n      Traceback (most recent call last):\n"
            "      setuptools.build_meta.SetupRequirementsError: ['cython', 'numpy', 'setuptools>=18.0']\n\n"
            "      During handling of the above exception, another exception occurred:\n\n"
            "      IsADirectoryError: [Errno 21] Is a directory: 'fairseq/examples'\n      [end of output]\n\n"
            "error: subprocess-exited-with-error\n\n× Getting requirements to build wheel did not run successfully.\n"
            "│ exit code: 1\n╰─> See above for output.",
            "fairseq for the image's Python, and its source cannot be built (IsADirectoryError",
            "pin fairseq at the first later version",
        ),
        Example(
            "Collecting old==1\n  × python setup.py egg_info did not run successfully.\n  ╰─> [3 lines of output]\n"
            "          except IOError, e:\n      SyntaxError: multiple exception types must be parenthesized\n"
            "      [end of output]\nerror: metadata-generation-failed",
            "the source of old is written for Python 2",
            "pin old at the first later version",
        ),
        Example(
            "Collecting fast==1\n  ╰─> [5 lines of output]\n      OSError: CUDA_HOME environment variable is not set."
            " Please set it to your CUDA install root.\n      [end of output]\n× Getting requirements to build wheel"
            " did not run successfully.",
            "fast is CUDA code",
            "-devel",
        ),
        Example(
            "Collecting pytrec-eval==0.5\n  Preparing metadata (setup.py): finished with status 'error'\n"
            "  ╰─> [53 lines of output]\n      socket.gaierror: [Errno -2] Name or service not known\n"
            "      urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>\n"
            "      [end of output]\nerror: metadata-generation-failed",
            "the source of pytrec-eval downloads something while it is built",
            "where that address can be reached",
        ),
        Example(
            "Collecting sat==0.7\n  ╰─> [9 lines of output]\n      LookupError: setuptools-scm was unable to detect"
            " version for /tmp/x.\n      [end of output]\n× Getting requirements to build wheel did not run"
            " successfully.",
            "sat for the image's Python, and its source cannot be built (LookupError: setuptools-scm",
            "pin sat",
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
        name = culprit(failure.text)
        if "sklearn" in said:
            change = Requirements(("scikit-learn",))
            return self.told(
                "sklearn is only a name that refuses to be installed", f"{change}; remove sklearn", change
            )
        if "CUDA_HOME" in said or "nvcc" in said:
            return self.told(
                f"the source of {name or 'a package'} is CUDA code, and the image has no CUDA compiler",
                "use a -devel base image, which has it",
            )
        if re.search("parenthes|leading zeros", said):
            newer = Wheel(canonicalize_name(name)) if name else None
            return self.told(
                f"the source of {name or 'a package'} is written for Python 2",
                f"pin a newer version of it{f': {newer}' if newer else ''}",
                newer,
            )
        said = inner_error(failure.text) or said
        if re.search(r"URLError|gaierror|HTTPError|ConnectionError", said):
            wheel = Wheel(canonicalize_name(name)) if name else None
            return self.told(
                f"the source of {name or 'a package'} downloads something while it is built, and cannot ({said})",
                "build where that address can be reached, or use another version of it",
                wheel,
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


def _built_with(name: str, needs: tuple[str, ...]) -> Change | None:
    return BuiltWith(canonicalize_name(name), needs) if name else None

"""Failures of the smoke test: the goal file cannot be imported in the environment."""

from __future__ import annotations

import re

from lmr_author.environment.failures import system_packages
from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.binaries import Crash, CudaLibrary, NoGpu, SharedLibrary, TorchMismatch
from lmr_author.environment.failures.changes import Requirements, SystemPackages
from lmr_author.environment.failures.metadata import NoMetadata
from lmr_author.environment.failures.pythons import OldPython, Python2
from lmr_author.environment.failures.versions import (
    HubCachedDownload,
    NumpyTwo,
    OldLibraryName,
    OldNumpyNames,
    OldProtobuf,
    StrictOverrides,
    Unmet,
)
from lmr_author.environment.imports import package_names
from lmr_author.model import TORCH_FAMILY


class NoModule(Explainer):
    """A module that nothing installs."""

    name = "no-module"
    stages = ("import",)
    pattern = compiled(r"No module named '?([\w.]+)'?")
    examples = (
        Example(
            "ModuleNotFoundError: No module named 'cv2'",
            "cv2 is not installed",
            "opencv-python-headless",
            "import",
        ),
        Example("ModuleNotFoundError: No module named 'sklearn'", "sklearn", "scikit-learn", "import"),
        Example("ModuleNotFoundError: No module named 'tkinter'", "tkinter", "python3-tk", "import"),
        Example("ModuleNotFoundError: No module named 'torchvision'", "torchvision", "base image", "import"),
        Example("ModuleNotFoundError: No module named 'apex'", "apex", "not on the package index", "import"),
        Example(
            "ModuleNotFoundError: No module named 'my_lab_utils'", "my_lab_utils", "PYTHONPATH", "import"
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """All that are missing at once, each by the package that gives it."""
        modules = tuple(dict.fromkeys((match[1].partition(".")[0], *failure.missing)))
        known = {name: package_names().get(name) for name in modules}
        system = [system_packages.MODULES[name] for name in modules if name in system_packages.MODULES]
        cause = f"{', '.join(modules)} {'is' if len(modules) == 1 else 'are'} not installed"
        if system:
            return self.fixable(cause, SystemPackages(tuple(system)))
        wanted = tuple(
            dict.fromkeys(package for package in known.values() if package and package not in TORCH_FAMILY)
        )
        if wanted:
            return self.fixable(cause, Requirements(wanted))
        first = modules[0]
        if first in TORCH_FAMILY:
            return self.told(
                cause, f"{first} has to come with the base image: choose one that has it (--base-image)"
            )
        if known[first] == "":
            return self.told(
                cause, f"{first} is not on the package index: install it from its source, in a RUN of its own"
            )
        return self.told(
            cause,
            "if it is the repository's own, put its folder on PYTHONPATH in the Dockerfile; if it is a"
            f" package, add that to requirements.lock (is it called {first.replace('_', '-')}?)",
        )


class NoProgramAtImport(Explainer):
    """A program that something calls when it is imported."""

    name = "program-at-import"
    stages = ("import",)
    pattern = compiled(
        r"(Bad git executable|GIT_PYTHON_REFRESH)",
        r"FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]+)'",
        r"(JavaNotFoundException|JAVA_HOME)",
    )
    examples = (
        Example(
            "ImportError: Bad git executable.\nThe git executable must be specified in one of the following"
            " ways:\n    - be included in your $PATH\nAll git commands will error until this is rectified.\n"
            "    export GIT_PYTHON_REFRESH=quiet",
            "runs git when it is imported",
            "system package git",
            "import",
        ),
        Example(
            "FileNotFoundError: [Errno 2] No such file or directory: 'java'",
            "runs java when it is imported",
            "default-jre-headless",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """Only programs that are known: a file of that name may be meant."""
        said = next(group for group in match.groups() if group)
        program = "git" if "git" in said.lower() else "java" if "java" in said.lower() else said
        package = system_packages.program(program)
        if not package:
            return None
        return self.fixable(
            f"it runs {program} when it is imported, which the image does not have",
            SystemPackages((package,)),
        )


class WorksAtImport(Explainer):
    """A script that does its work, or reads its command line, when it is imported."""

    name = "script"
    stages = ("import",)
    pattern = compiled(
        r"SystemExit",
        r"error: the following arguments are required: [^\n]*",
        r"error: unrecognized arguments[^\n]*",
        r"still running after \d+ s",
        r"IndexError: list index out of range\s*\Z",
    )
    examples = (
        Example(
            "usage: train.py [-h] --data DATA\ntrain.py: error: the following arguments are required:"
            " --data\nSystemExit: 2",
            "does its work when it is imported",
            "if __name__",
            "import",
        ),
        Example("still running after 60 s", "does its work when it is imported", "if __name__", "import"),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Such a file has no function that a test could import without running it all."""
        return self.told(
            f"the file does its work when it is imported ({match[0].strip()})",
            "recording needs the functions only: choose a target in a module, or put the work under "
            '`if __name__ == "__main__":` (`lmr-author extract`)',
        )


class NeedsNetwork(Explainer):
    """A download at import."""

    name = "download-at-import"
    stages = ("import",)
    pattern = compiled(
        r"name resolution",
        r"ConnectionError",
        r"Max retries exceeded",
        r"couldn't connect to 'https",
        r"URLError",
        r"Network is unreachable",
        r"LocalEntryNotFoundError",
        r"Can't load tokenizer for",
        r"offline mode",
        r"Resource \S+ not found",
        r"Can't find model '",
        r"/huggingface/hub/(?:models|datasets)--[\w.-]+",
    )
    examples = (
        Example(
            "OSError: We couldn't connect to 'https://huggingface.co' to load this file, couldn't find it in"
            " the cached files",
            "downloads something when it is imported",
            "without network",
            "import",
        ),
        Example(
            "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
            "downloads something",
            "without network",
            "import",
        ),
        Example(
            "FileNotFoundError: [Errno 2] No such file or directory:"
            " '/tmp/.cache/huggingface/hub/models--distilbert-base-uncased/refs/main'",
            "downloads something when it is imported (/huggingface/hub/models--distilbert-base-uncased)",
            "without network",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Tests run without network, so it has to be in the image or not be needed."""
        return self.told(
            f"it downloads something when it is imported ({match[0]})",
            "tests run without network: put the data into the repository's folder if it is small, or choose a"
            " target whose file does not load it at import",
        )


class ReadOnly(Explainer):
    """Code that writes at import where nothing may be written."""

    name = "writes-at-import"
    stages = ("import",)
    pattern = compiled(
        r"Read-only file system(?:: '([^']*)')?",
        r"PermissionError: \[Errno 13\] Permission denied(?:: '([^']*)')?",
    )
    examples = (
        Example(
            "OSError: [Errno 30] Read-only file system: '/workspace/repo/logs'",
            "writes '/workspace/repo/logs'",
            "/tmp",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Caches have variables; folders of the repository do not."""
        place = next((group for group in match.groups() if group), "")
        return self.told(
            f"it writes {repr(place) if place else 'a file'} when it is imported, and only /tmp can be"
            " written",
            "set the variable that moves it to /tmp (ENV in the Dockerfile), or choose a target whose file"
            " does not write at import",
        )


OF_THE_ENVIRONMENT: tuple[type[Explainer], ...] = (
    Crash,
    NumpyTwo,
    OldNumpyNames,
    HubCachedDownload,
    OldProtobuf,
    Unmet,
    StrictOverrides,
    NoGpu,
    CudaLibrary,
    TorchMismatch,
    SharedLibrary,
    OldPython,
    OldLibraryName,
    NoMetadata,
    NoModule,
    NoProgramAtImport,
)
"""What is wrong with the packages, the libraries or the machine, whatever was being done."""

IMPORTING: tuple[type[Explainer], ...] = (
    *OF_THE_ENVIRONMENT,
    NeedsNetwork,
    ReadOnly,
    WorksAtImport,
    Python2,
)
"""In the order in which they are asked: the surest first."""

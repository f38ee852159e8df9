"""Failures of a build: a package is compiled, and a header is missing."""

from __future__ import annotations

import re

from lmr_author.environment.failures import system_packages
from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.changes import SystemPackages
from lmr_author.environment.failures.pip_output import being_built


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
        """By the header's name; one that Python no longer has tells of an old source (`building.Unbuildable`)."""
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
        return self.fixable(cause, SystemPackages(packages))

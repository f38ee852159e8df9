"""Failures of the smoke test: the code, or a library's, is for another Python than the image has."""

from __future__ import annotations

import collections.abc
import re

from packaging.utils import canonicalize_name

from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.changes import Newer, OldNames
from lmr_author.environment.imports import package_names
from lmr_author.model import TORCH_FAMILY

RESTORED = frozenset(
    {f"collections.{name}" for name in collections.abc.__all__}
    | {"inspect.getargspec", "fractions.gcd", "time.clock", "asyncio.coroutine"}
)
"""What the lines of the Dockerfile give back (``repair.OLD_NAMES``)."""


class OldPython(Explainer):
    """Something that newer versions of Python no longer have."""

    name = "python-too-new"
    stages = ("import",)
    pattern = compiled(
        r"cannot import name '(\w+)' from '(collections|fractions|inspect|typing|asyncio|math)'",
        r"module '(collections|inspect|asyncio|time|ast|unittest)' has no attribute '(\w+)'",
        r"No module named '(imp|asyncore|distutils|cgi|crypt|telnetlib|pipes|lib2to3)'",
        r"mutable default <class '[\w.]+'> for field \w+ is not allowed",
    )
    examples = (
        Example(
            "ImportError: cannot import name 'Mapping' from 'collections' (/usr/lib/python3.11/collections/"
            "__init__.py)",
            "Python no longer has collections.Mapping",
            "give the image's Python back the names",
            "import",
        ),
        Example(
            "ModuleNotFoundError: No module named 'imp'", "Python no longer has imp", "older Python", "import"
        ),
        Example(
            '  File "/usr/local/lib/python3.11/dist-packages/somelib/config.py", line 5, in <module>\n'
            "ValueError: mutable default <class 'somelib.Inner'> for field x is not allowed: use default_factory",
            "since Python 3.11 a dataclass refuses",
            "later version of somelib",
            "import",
        ),
        Example(
            '  File "/workspace/repo/pkg/config.py", line 5, in <module>\n'
            "ValueError: mutable default <class 'pkg.config.Inner'> for field x is not allowed: use default_factory",
            "since Python 3.11 a dataclass refuses",
            "let it take dataclasses as defaults",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """Names can be given back; for the rest a library's later version may do, or an older Python."""
        groups = [group for group in match.groups() if group]
        newer = later_version(failure)
        older = "use a base image with an older Python"
        if "mutable default" in match[0]:
            cause = "since Python 3.11 a dataclass refuses such a default"
            return self.told(cause, f"{newer or OldNames()}, or {older}", newer or OldNames())
        what = f"{groups[1]}.{groups[0]}" if "cannot import" in match[0] else ".".join(groups)
        cause = f"the image's Python no longer has {what}"
        if what in RESTORED:
            change = OldNames()
            return self.told(cause, f"{change}, or {older}", change)
        return self.told(cause, f"{newer}, or {older}" if newer else older, newer)


class Python2(Explainer):
    """Python 2, or a newer syntax than the image's Python has."""

    name = "syntax-of-another-python"
    stages = ("import",)
    pattern = compiled(r"(?:SyntaxError|TabError|IndentationError): ([^\n]*)")
    examples = (
        Example(
            '  File "train.py", line 3\n    print "x"\n    ^^^^^^^^^\nSyntaxError: Missing parentheses in'
            " call to 'print'. Did you mean print(...)?",
            "written for Python 2",
            "another target",
            "import",
        ),
        Example(
            '  File "a.py", line 4\n    return x\nTabError: inconsistent use of tabs and spaces in indentation',
            "written for Python 2",
            "another target",
            "import",
        ),
        Example(
            '  File "a.py", line 3\n    match x:\n          ^\nSyntaxError: invalid syntax',
            "cannot be read by the image's Python",
            "newer Python",
            "import",
        ),
        Example(
            '  File "/workspace/repo/a.py", line 1, in <module>\n    import aiohttp\n'
            '  File "/usr/local/lib/python3.11/dist-packages/aiohttp/helpers.py", line 9\n'
            "    yield from asyncio.async(x)\n                       ^^^^^\nSyntaxError: invalid syntax",
            "aiohttp is of a version that the image's Python cannot read",
            "later version of aiohttp",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """By the message, and by whose file it is: a library has later versions."""
        newer = later_version(failure)
        if newer is not None:
            return self.told(
                f"{newer.name} is of a version that the image's Python cannot read: {match[1]}",
                f"{newer}, or use a base image with an older Python",
                newer,
            )
        if "print" in match[1] or "exec" in match[1] or match[0].startswith("TabError"):
            return self.told(
                "the file is written for Python 2", "choose another target, or convert the repository first"
            )
        return self.told(
            f"the file cannot be read by the image's Python: {match[1]}",
            "use a base image with a newer Python",
        )


def later_version(failure: Failure) -> Newer | None:
    """A later version of the library whose code failed; None where it is the repository's, or PyTorch."""
    files = re.findall(r'^ *File "([^"]+)", line', failure.text, re.M)
    # Python's own files come last when they were called: by whom is what counts.
    callers = [file for file in files if "-packages/" in file or "/lib/python3" not in file]
    library = re.search(r"-packages/(\w+)", callers[-1]) if callers else None
    name = package_names().get(library[1], library[1]) if library else ""
    return Newer(canonicalize_name(name)) if name and name not in TORCH_FAMILY else None

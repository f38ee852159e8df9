"""Failures of the smoke test: a library is not of the version that the code was written for."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

from packaging.utils import canonicalize_name

from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.changes import Newer, Older, Requirements
from lmr_author.environment.failures.pythons import later_version
from lmr_author.environment.imports import package_names
from lmr_author.model import TORCH_FAMILY


class NumpyTwo(Explainer):
    """Code or wheels made for NumPy 1 meet NumPy 2."""

    name = "numpy-2"
    stages = ("import",)
    pattern = compiled(
        r"`np\.(\w+)` was removed in the NumPy 2\.0 release",
        r"numpy\.dtype size changed",
        r"A module that was compiled using NumPy 1\.x cannot be run",
        r"numpy\.core\.multiarray failed to import",
        r"_ARRAY_API not found",
        r"Numpy is not available",
    )
    examples = (
        Example(
            "AttributeError: `np.unicode_` was removed in the NumPy 2.0 release. Use `np.str_` instead.",
            "NumPy 1",
            "numpy<2",
            "import",
        ),
        Example(
            "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C"
            " header, got 88 from PyObject",
            "NumPy 1",
            "numpy<2",
            "import",
        ),
        Example("ImportError: numpy.core.multiarray failed to import", "NumPy 1", "numpy<2", "import"),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """One pin puts all of these right."""
        return self.fixable(
            f"it is made for NumPy 1, and NumPy 2 is installed ({match[0]})", Requirements(("numpy<2",))
        )


class OldNumpyNames(Explainer):
    """``np.float`` and its like, gone in NumPy 1.24."""

    name = "numpy-aliases"
    stages = ("import",)
    pattern = compiled(
        r"module 'numpy' has no attribute '(float|int|bool|object|str|complex|long|unicode|typeDict)'",
        r"`np\.(\w+)` was a deprecated alias",
    )
    examples = (
        Example(
            "AttributeError: module 'numpy' has no attribute 'float'.\n`np.float` was a deprecated alias for"
            " the builtin `float`.",
            "np.float, which NumPy 1.24 removed",
            "numpy<1.24",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """The last version that had them is 1.23."""
        name = next(group for group in match.groups() if group)
        return self.fixable(f"it uses np.{name}, which NumPy 1.24 removed", Requirements(("numpy<1.24",)))


class HubCachedDownload(Explainer):
    """``huggingface_hub`` 0.26 removed what older libraries import."""

    name = "huggingface-hub"
    stages = ("import",)
    pattern = compiled(
        r"cannot import name '(cached_download|HfFolder|url_to_filename|Repository)' from 'huggingface_hub"
    )
    examples = (
        Example(
            "ImportError: cannot import name 'cached_download' from 'huggingface_hub'"
            " (/usr/local/lib/python3.11/dist-packages/huggingface_hub/__init__.py)",
            "cached_download",
            "huggingface_hub<0.26",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """``HfFolder`` and ``Repository`` went later, in 1.0."""
        below = "0.26" if match[1] in ("cached_download", "url_to_filename") else "1"
        return self.fixable(
            f"huggingface_hub {below} removed {match[1]}, which is imported",
            Requirements((f"huggingface_hub<{below}",)),
        )


class OldProtobuf(Explainer):
    """Generated code older than the protobuf that is installed."""

    name = "protobuf"
    stages = ("import",)
    pattern = compiled(
        r"Descriptors cannot be created directly", r"Descriptors cannot not be created directly"
    )
    examples = (
        Example(
            "TypeError: Descriptors cannot be created directly.\nIf this call came from a _pb2.py file, your "
            "generated code is out of date",
            "protobuf",
            "protobuf<3.21",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """As protobuf itself advises."""
        return self.fixable(
            "a library was generated for an older protobuf than is installed",
            Requirements(("protobuf<3.21",)),
        )


class Unmet(Explainer):
    """A library that looks at the versions of what it needs, as transformers does: lists of pins may contradict it."""

    name = "unmet-requirement"
    stages = ("import",)
    pattern = compiled(
        r"ImportError: ([\w.-]+[<>=!~]\S*) is required for a normal functioning of this module, but found (\S+?)\.?$"
    )
    examples = (
        Example(
            '  File "/usr/lib/python3/dist-packages/transformers/utils/versions.py", line 44, in _compare_versions\n'
            "ImportError: tokenizers>=0.19,<0.20 is required for a normal functioning of this module, but found"
            " tokenizers==0.15.2.",
            "it needs tokenizers>=0.19,<0.20, and tokenizers==0.15.2 is installed",
            "put tokenizers>=0.19,<0.20 into",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """The library says itself what it needs, one thing at a time."""
        folders = re.findall(r"-packages/(\w+)/", failure.text)
        of = canonicalize_name(package_names().get(folders[-1]) or folders[-1]) if folders else ""
        change = Requirements((match[1],), of)
        return self.fixable(f"it needs {match[1]}, and {match[2]} is installed", change)


class StrictOverrides(Explainer):
    """The package ``overrides`` compares signatures since version 4, and reads old bytecode before."""

    name = "overrides"
    stages = ("import",)
    pattern = compiled(r"-packages/overrides/[\s\S]*?(?:TypeError|KeyError|IndexError): ([^\n]*)")
    examples = (
        Example(
            '  File "/usr/local/lib/python3.9/dist-packages/overrides/signature.py", line 305, in'
            " ensure_return_type_compatibility\nTypeError: BiAffine.extra_repr: return type `None` is not a"
            " `<class 'str'>`.",
            "overrides compares signatures since version 4",
            "overrides<4",
            "import",
        ),
        Example(
            '  File "/usr/local/lib/python3.11/dist-packages/overrides/overrides.py", line 166, in'
            " _get_base_class_names\nKeyError: 'Module'",
            "no version of overrides fits",
            "older Python",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """The last version that does not compare is as good for the rest, up to Python 3.10."""
        python = re.search(r"/python3\.(\d+)/", failure.text)
        if python and int(python[1]) >= 11:
            return self.told(
                f"no version of overrides fits: 4 compares signatures, 3 needs Python 3.10 ({match[1]})",
                "use a base image with an older Python",
            )
        return self.fixable(
            f"overrides compares signatures since version 4: {match[1]}", Requirements(("overrides<4",))
        )


class OldLibraryName(Explainer):
    """A name that another version of a library has."""

    name = "library-version"
    stages = ("import",)
    pattern = compiled(
        r"cannot import name '(?P<name>\w+)' from (?:partially initialized module )?'(?P<module>[\w.]+)'"
        r" \((?P<path>[^)]*)\)",
        r"module '(?P<module2>[\w.]+)' has no attribute '(?P<name2>\w+)'",
        r"No module named '(?P<module3>(?:transformers|torch|datasets|sklearn|nltk|torchtext)\.[\w.]+)'",
    )
    examples = (
        Example(
            "ImportError: cannot import name 'AdamW' from 'transformers'"
            " (/usr/lib/python3/dist-packages/transformers/__init__.py)",
            "no AdamW in the transformers that is installed",
            "pin the version",
            "import",
        ),
        Example(
            '  File "/workspace/repo/a.py", line 1, in <module>\n    import deepspeed\n'
            '  File "/usr/local/lib/python3.11/dist-packages/deepspeed/elasticity/elastic_agent.py", line 9\n'
            "ImportError: cannot import name 'log' from 'torch.distributed.elastic.agent.server.api'"
            " (/usr/local/lib/python3.11/dist-packages/torch/distributed/elastic/agent/server/api.py)",
            "no log in the torch that is installed, which deepspeed imports",
            "take the newest version of deepspeed",
            "import",
        ),
        Example(
            '  File "/usr/local/lib/python3.11/dist-packages/torch/_utils.py", line 9, in <module>\n'
            "ImportError: cannot import name 'deprecated' from 'typing_extensions'"
            " (/usr/local/lib/python3.11/dist-packages/typing_extensions.py)",
            "no deprecated in the typing_extensions",
            "newest version of typing-extensions",
            "import",
        ),
        Example(
            "AttributeError: module 'torch' has no attribute 'frobnicate'",
            "no frobnicate in the torch",
            "base image",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """Only for installed libraries: the repository's own circular imports are another matter."""
        found = match.groupdict()
        path = found.get("path") or ""
        module = found.get("module") or found.get("module2") or (found.get("module3") or "").partition(".")[0]
        name = found.get("name") or found.get("name2") or found.get("module3") or ""
        if path and "-packages/" not in path:
            if "partially initialized" in match[0]:
                return self.told(
                    f"{module} imports itself in a circle",
                    "import it as the repository's own scripts do: --file",
                )
            return None
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names:
            return None
        cause = f"there is no {name} in the {top} that is installed"
        if top in TORCH_FAMILY:
            newer = later_version(failure)
            if newer is not None:
                newer = replace(newer, newest=True)
                return self.told(
                    f"{cause}, which {newer.name} imports",
                    f"{newer}; or choose a base image with an older {top} (--base-image)",
                    newer,
                )
            return self.told(
                cause, f"choose a base image with the {top} that the code was written for (--base-image)"
            )
        if top == "typing_extensions":  # no name leaves it: who imports it is newer
            later = Newer("typing-extensions", newest=True)
            return self.told(cause, f"{later}: whatever imports it is newer than that", later)
        package = canonicalize_name(package_names().get(top, top))
        advice = f"pin the version of {top} that was current when the code was written, in requirements.lock"
        older = Older(package) if package else None
        return self.told(cause, f"{older}; or {advice}" if older else advice, older)

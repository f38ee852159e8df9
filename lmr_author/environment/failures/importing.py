"""Failures of the smoke test: the goal file cannot be imported in the environment."""

from __future__ import annotations

import re
import sys

from lmr_author.environment.failures import system_packages
from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.changes import Requirements, SystemPackages
from lmr_author.environment.imports import package_names
from lmr_author.environment.recipe import TORCH_FAMILY


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
        change = Requirements(("numpy<2",))
        return self.told(
            f"it is made for NumPy 1, and NumPy 2 is installed ({match[0]})", str(change), change
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
        change = Requirements(("numpy<1.24",))
        return self.told(f"it uses np.{name}, which NumPy 1.24 removed", str(change), change)


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
        change = Requirements((f"huggingface_hub<{below}",))
        return self.told(
            f"huggingface_hub {below} removed {match[1]}, which is imported", str(change), change
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
        change = Requirements(("protobuf<3.21",))
        return self.told(
            "a library was generated for an older protobuf than is installed", str(change), change
        )


class CudaLibrary(Explainer):
    """A CUDA library that a CPU base, or another CUDA, does not have."""

    name = "cuda-library"
    stages = ("import",)
    pattern = compiled(
        r"(lib(?:cudart|cublas\w*|cudnn\w*|cufft|curand|cusolver|cusparse|nvrtc|nccl|cuda|nvToolsExt)\.so[\w.]*)"
    )
    examples = (
        Example(
            "OSError: libcudart.so.11.0: cannot open shared object file: No such file or directory",
            "libcudart.so.11.0",
            "CUDA 11.0",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Never a package of Debian: it has to fit the PyTorch of the base image."""
        version = re.search(r"\.so\.([\d.]+)", match[1])
        wanted = f"CUDA {version[1]}" if version and "cudart" in match[1] else "the CUDA it was built for"
        return self.told(
            f"{match[1]} is missing: a package was built for another CUDA than the base image has",
            f"use a base image with {wanted}, or a version of that package for the image's CUDA",
        )


class TorchMismatch(Explainer):
    """An extension that was compiled for another PyTorch."""

    name = "torch-extension"
    stages = ("import",)
    pattern = compiled(
        r"undefined symbol: (\w*(?:c10|torch|at)\w*)",
        r"(libtorch\w*|libc10\w*)\.so",
        r"operator (torchvision::\w+) does not exist",
    )
    examples = (
        Example(
            "ImportError: /x/flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
            "another PyTorch",
            "version that fits",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """torchvision and torchaudio are the usual ones."""
        return self.told(
            "a package was compiled for another PyTorch than the base image has",
            "pin the version that fits the image's PyTorch (torchvision's and torchaudio's are the base"
            " image's own)",
        )


class SharedLibrary(Explainer):
    """A library of the system."""

    name = "shared-library"
    stages = ("import",)
    pattern = compiled(
        r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file",
        r"(sndfile) library not found",
        r"(libsndfile)",
    )
    examples = (
        Example(
            "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
            "libGL.so.1",
            "libgl1",
            "import",
        ),
        Example("OSError: sndfile library not found", "sndfile", "libsndfile1", "import"),
        Example(
            "ImportError: libodd.so.3: cannot open shared object file: No such file or directory",
            "libodd.so.3",
            "packages.debian.org",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """OpenCV has a build that needs no libGL, which is smaller; the package is the surer way."""
        name = next(group for group in match.groups() if group)
        package = system_packages.LIBRARIES.get(name) or ("libsndfile1" if "sndfile" in name else "")
        cause = f"the system library {name} is missing"
        if not package:
            return self.told(
                cause, "find out which package of Debian has it (packages.debian.org), and install that"
            )
        also = ("libglib2.0-0",) if package == "libgl1" else ()
        change = SystemPackages((package, *also))
        return self.told(cause, str(change), change)


class OldPython(Explainer):
    """Something that newer versions of Python no longer have."""

    name = "python-too-new"
    stages = ("import",)
    pattern = compiled(
        r"cannot import name '(\w+)' from '(collections|fractions|inspect|typing|asyncio)'",
        r"module '(collections|inspect|asyncio|time|ast|unittest)' has no attribute '(\w+)'",
        r"No module named '(imp|asyncore|distutils|cgi|crypt|telnetlib|pipes|lib2to3)'",
        r"mutable default <class '[\w.]+'> for field \w+ is not allowed",
    )
    examples = (
        Example(
            "ImportError: cannot import name 'Mapping' from 'collections' (/usr/lib/python3.11/collections/"
            "__init__.py)",
            "Python no longer has collections.Mapping",
            "older Python",
            "import",
        ),
        Example(
            "ModuleNotFoundError: No module named 'imp'", "Python no longer has imp", "older Python", "import"
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """Whose code it is decides: a library's newer version may do, the repository's needs the older Python."""
        groups = [group for group in match.groups() if group]
        if "cannot import" in match[0]:
            what = f"{groups[1]}.{groups[0]}"
        elif "mutable default" in match[0]:
            return self.told(
                "since Python 3.11 a dataclass refuses such a default",
                "use a base image with an older Python",
            )
        else:
            what = ".".join(groups)
        library = re.findall(r"/(?:dist|site)-packages/(\w+)", failure.text)
        who = f"{library[-1]} needs a newer version, or " if library else ""
        return self.told(
            f"the image's Python no longer has {what}", f"{who}use a base image with an older Python"
        )


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
            change = SystemPackages(tuple(system))
            return self.told(cause, str(change), change)
        wanted = tuple(
            dict.fromkeys(package for package in known.values() if package and package not in TORCH_FAMILY)
        )
        if wanted:
            add = Requirements(wanted)
            return self.told(cause, str(add), add)
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
        if top in TORCH_FAMILY:
            advice = f"choose a base image with the {top} that the code was written for (--base-image)"
        else:
            advice = (
                f"pin the version of {top} that was current when the code was written, in requirements.lock"
            )
        return self.told(f"there is no {name} in the {top} that is installed", advice)


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


class Crash(Explainer):
    """The interpreter itself died."""

    name = "crash"
    stages = ("import",)
    pattern = compiled(r"died of signal (\d+)")
    examples = (
        Example("died of signal 4", "instructions", "another machine", "import"),
        Example("died of signal 11", "compiled packages", "environment.json", "import"),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """4 is an instruction that this processor lacks; the rest is most often a mismatch of compiled packages."""
        if match[1] == "4":
            return self.told(
                "Python died of signal 4: a package uses instructions that this processor does not have",
                "use another version of that package, or another machine",
            )
        return self.told(
            f"Python died of signal {match[1]} while importing: compiled packages do not fit together",
            "compare the versions in authoring/environment.json with those the repository was made with",
        )


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
            '  File "a.py", line 3\n    match x:\n          ^\nSyntaxError: invalid syntax',
            "cannot be read by the image's Python",
            "newer Python",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """By the message."""
        if "print" in match[1] or "exec" in match[1] or match[0].startswith("TabError"):
            return self.told(
                "the file is written for Python 2", "choose another target, or convert the repository first"
            )
        return self.told(
            f"the file cannot be read by the image's Python: {match[1]}",
            "use a base image with a newer Python",
        )


IMPORTING: tuple[type[Explainer], ...] = (
    Crash,
    NumpyTwo,
    OldNumpyNames,
    HubCachedDownload,
    OldProtobuf,
    CudaLibrary,
    TorchMismatch,
    SharedLibrary,
    OldPython,
    OldLibraryName,
    NoModule,
    NeedsNetwork,
    ReadOnly,
    WorksAtImport,
    Python2,
)

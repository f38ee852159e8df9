"""Failures of the smoke test: compiled packages, and the libraries of the system that they load."""

from __future__ import annotations

import re

from lmr_author.environment.failures import system_packages
from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.changes import Requirements, SystemPackages


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


class NoGpu(Explainer):
    """Code that wants a GPU as soon as it is imported."""

    name = "no-gpu"
    stages = ("import",)
    pattern = compiled(
        r"Torch not compiled with CUDA enabled",
        r"Found no NVIDIA driver on your system",
        r"No CUDA GPUs are available",
        r"CUDA driver version is insufficient",
        r"CUDA_HOME environment variable is not set",
        r"RuntimeError: (?:0 active drivers|no CUDA-capable device)",
    )
    examples = (
        Example(
            'File "model.py", line 9, in <module>\n    DEVICE = torch.zeros(1).cuda()\n'
            "AssertionError: Torch not compiled with CUDA enabled",
            "wants a GPU or CUDA (Torch not compiled with CUDA enabled)",
            "device='cpu'",
            "import",
        ),
        Example(
            "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
            "wants a GPU",
            "another target",
            "import",
        ),
        Example(
            "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
            "wants a GPU or CUDA",
            "another target",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Tests are recorded without one, so that no image helps."""
        return self.told(
            f"the code wants a GPU or CUDA ({match[0]}), and tests are recorded without one",
            "where it takes a device, give it device='cpu'; else choose another target, in a file that can be imported "
            "without a GPU",
        )


TORCHTEXT = "0.6.0"
"""The last torchtext that is Python alone: later ones are compiled for one PyTorch each."""


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
        Example(
            "OSError: /usr/local/lib/python3.11/dist-packages/torchtext/lib/libtorchtext.so: undefined symbol:"
            " _ZN2at4_ops5zeros4callEN3c108ArrayRefIlEE",
            "torchtext was compiled for another PyTorch",
            "torchtext==0.6.0",
            "import",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """torchvision and torchaudio are the usual ones. Torchtext was once Python alone, and fits any PyTorch then."""
        if re.search(r"-packages/torchtext/|libtorchtext", failure.text):
            change = Requirements((f"torchtext=={TORCHTEXT}",))
            return self.told(
                "torchtext was compiled for another PyTorch than the base image has",
                f"{change}: the last that is Python alone; or choose the base image that the repository asks for",
                change,
            )
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
        return self.fixable(cause, SystemPackages((package, *also)))

"""Failures of the machine, not of the task: network, disk, memory, the engine's registry."""

from __future__ import annotations

import re

from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled


class Unreachable(Explainer):
    """No name is resolved, nothing answers."""

    name = "network"
    stages = ("build", "install")
    pattern = compiled(
        r"name resolution|failure resolving|could not resolve|NewConnectionError|ConnectTimeout|Connection"
        r" (?:refused|reset)",
        r"Network is unreachable|dns error|Failed to fetch: `|error sending request|network was"
        r" disabled|timed out",
    )
    examples = (
        Example(
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<…>: Failed"
            " to establish a new connection: [Errno -3] Temporary failure in name resolution')':"
            " /simple/einops/\nERROR: Could not find a version that satisfies the requirement einops==0.6.0"
            " (from versions: none)",
            "could not reach the network",
            "proxy",
        ),
        Example(
            "W: Failed to fetch http://deb.example.org/debian/dists/bookworm/InRelease  Temporary failure"
            " resolving 'deb.example.org'\nE: Unable to locate package git",
            "could not reach the network",
            "proxy",
        ),
        Example(
            "error: Request failed after 3 retries\n  Caused by: Failed to fetch:"
            " `https://index/simple/einops/`\n  Caused by: error sending request\n  Caused by: dns error:"
            " failed to lookup address information",
            "could not reach the network",
            "proxy",
            stage="install",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Nothing in the task can put it right."""
        return self.told(
            f"it could not reach the network ({match[0].strip('`: ')})",
            "check the connection, the proxy and the package index; then run the command again, it goes on"
            " there",
        )


class NoCrates(Explainer):
    """A package of Rust that is compiled, where cargo cannot fetch what it needs."""

    name = "crates"
    stages = ("build", "install")
    pattern = compiled(r"failed to get `[\w-]+` as a dependency of package `([\w-]+)")
    examples = (
        Example(
            "Updating crates index\nwarning: spurious network error (1 try remaining): [6] Could not resolve hostname\n"
            "error: failed to get `tempfile` as a dependency of package `tokenizers-python v0.11.0 (/build/src)`\n"
            "Caused by:\n  download of config.json failed",
            "tokenizers has no wheel for this Python and is compiled with Rust, whose packages",
            "env lock --python-version",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Another Python, for which there is a wheel, needs no Rust."""
        package = match[1].removesuffix("-python")
        return self.told(
            f"{package} has no wheel for this Python and is compiled with Rust, whose packages could not be fetched",
            "choose an older Python that it has a wheel for (`env lock --python-version X.Y`); or check the connection",
        )


class Certificates(Explainer):
    """A proxy or index whose certificate the image does not know."""

    name = "certificates"
    stages = ("build", "install")
    pattern = compiled(r"CERTIFICATE_VERIFY_FAILED", r"SSLError\(", r"invalid peer certificate", r"x509: ")
    examples = (
        Example(
            "Could not fetch URL https://index.example.org/simple/einops/: There was a problem confirming the ssl"
            " certificate: HTTPSConnectionPool(host='index.example.org', port=443): Max retries exceeded (Caused by"
            " SSLError(SSLError(136, '[X509: NO_CERTIFICATE_OR_CRL_FOUND] no certificate or crl found"
            " (_ssl.c:4123)'))) - skipping",
            "certificate",
            "base image",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """The certificate belongs into the base image, not into a task."""
        return self.told(
            "the package index's certificate is not trusted in there",
            "put your organisation's certificate into a base image of your own, and give that with"
            " --base-image",
        )


class DiskFull(Explainer):
    """No space, of the engine's disk or of a limited /tmp."""

    name = "disk-full"
    stages = ("build", "install", "import")
    pattern = compiled(r"no space left on device", r"Errno 28\b", r"disk quota exceeded")
    examples = (
        Example(
            "pip._vendor.urllib3.exceptions.ProtocolError: (\"Connection broken: OSError(28, 'No space left"
            " on device')\", OSError(28, 'No space left on device'))",
            "the disk is full",
            "env prune",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Our own images first: they are what we can answer for."""
        return self.told(
            "the disk is full",
            "free some: `lmr-author env prune` removes what is ours and unused, `docker system df` shows the"
            " rest",
        )


class Removed(Explainer):
    """Somebody else removed the build's container; its exit code looks like too little memory."""

    name = "container-removed"
    stages = ("build",)
    pattern = compiled(
        r"removal of container \w+ is already in progress",
        r"No such container: \w+",
        r"container \w+ is marked for removal",
    )
    examples = (
        Example(
            "Error removing intermediate container a794f4e563c6: removal of container a794f4e563c66a1b is already in"
            " progress\nThe command '/bin/sh -c pip install' returned a non-zero code: 137",
            "removed while it was being built",
            "again",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """A clean-up of the engine (`docker container prune`, `docker rm -f`), or its end."""
        return self.told(
            "the container was removed while it was being built, by a clean-up of the engine or its end",
            "run the command again, it goes on there",
        )


class Killed(Explainer):
    """The kernel killed it, nearly always for memory."""

    name = "killed"
    stages = ("build", "install", "import")
    pattern = compiled(
        r"returned a non-zero code: 137\b", r"^Killed$", r"killed signal", r"signal 9\b", r"MemoryError"
    )
    examples = (
        Example(
            "Killed\nThe command '/bin/sh -c pip install x' returned a non-zero code: 137",
            "killed",
            "memory",
        ),
        Example(
            "c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.",
            "killed",
            "memory",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """It may be compiled with too many processes at once."""
        return self.told(
            "it was killed, most likely because the machine has too little memory",
            "give the engine more memory; for something that is compiled, ENV MAX_JOBS=1 before it needs"
            " less",
        )


class NoBaseImage(Explainer):
    """The engine has no such image and cannot get it."""

    name = "base-image"
    stages = ("build",)
    pattern = compiled(
        r"pull access denied for (\S+?),",
        r"manifest for (\S+) not found",
        r"manifest unknown",
        r"Get \"?https://[^ ]*/v2/",
        r"repository does not exist",
        r"invalid reference format",
        r"no such image",
    )
    examples = (
        Example(
            'Get "https://registry.example.org/v2/": dial tcp: lookup registry.example.org on 10.0.0.53:53:'
            " no such host",
            "pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime cannot be pulled",
            "--base-image",
            where="FROM pytorch/pytorch:2.0.1-cuda11.7-cudnn8-runtime",
        ),
        Example(
            "pull access denied for lmr-author/none, repository does not exist or may require 'docker login'",
            "lmr-author/none",
            "--base-image",
            where="FROM ${BASE_IMAGE}",
        ),
        Example(
            "manifest for pytorch/pytorch:2.0.9 not found: manifest unknown: manifest unknown",
            "there is no image pytorch/pytorch:2.0.9",
            "tag",
            where="FROM ${BASE_IMAGE}",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """Tells a registry that is away from an image that does not exist."""
        words = failure.where.split()
        if not words or words[0].upper() != "FROM":
            return None
        named = next((group for group in match.groups() if group), "")
        image = named or (words[1] if len(words) > 1 else "")
        offline = "dial tcp" in failure.text or "lookup" in failure.text or "Client.Timeout" in failure.text
        advice = (
            "give one that the engine has with --base-image (`docker images` lists them); without a registry,"
            " scripts/make-base-image makes a stand-in"
        )
        if offline:
            return self.told(
                f"the base image {image} cannot be pulled: its registry cannot be reached", advice
            )
        if "manifest" in match[0]:
            return self.told(f"there is no image {image}", f"correct its tag in the Dockerfile, or {advice}")
        return self.told(f"the base image {image} is not available", advice)


MACHINE: tuple[type[Explainer], ...] = (
    NoBaseImage,
    DiskFull,
    Certificates,
    NoCrates,
    Unreachable,
    Removed,
    Killed,
)

"""Failures of a Dockerfile itself: its syntax, what it copies, what it calls, its apt packages."""

from __future__ import annotations

import re

from lmr_author.environment.failures import system_packages
from lmr_author.environment.failures.base import Example, Explainer, Explanation, Failure, compiled
from lmr_author.environment.failures.changes import ArchivedMirrors, ManualPages, SystemPackages
from lmr_author.environment.failures.pip_output import being_built


class BuildKitOnly(Explainer):
    """Syntax that the classic builder does not have."""

    name = "buildkit-syntax"
    stages = ("build",)
    pattern = compiled(r"the --(\w+) option requires BuildKit", r"requires BuildKit")
    examples = (
        Example(
            "the --mount option requires BuildKit. Refer to https://docs.docker.com/go/buildkit/ to learn how"
            " to build images with BuildKit enabled",
            "--mount needs BuildKit",
            "without --mount",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """LMR-Bench's own scripts may meet the classic builder, too."""
        option = f"--{match[1]}" if match[1] else "this"
        return self.told(
            f"{option} needs BuildKit, which not every engine has",
            f"write the instruction without {option}",
        )


class Syntax(Explainer):
    """A line that is no instruction."""

    name = "syntax"
    stages = ("build",)
    pattern = compiled(
        r"unknown instruction: (\S+)",
        r"dockerfile parse error[^\n]*",
        r"no build stage in current context",
        r"the Dockerfile \([^)]*\) cannot be empty",
        r"file with no instructions",
        r"requires (?:at least|exactly) [^\n]*argument",
        r"Syntax error - [^\n]*",
        r"failed to process[^\n]*",
    )
    examples = (
        Example(
            "dockerfile parse error line 3: unknown instruction: RNU", "unknown instruction: RNU", "line 3"
        ),
        Example("no build stage in current context", "no build stage", "FROM"),
        Example("the Dockerfile (Dockerfile) cannot be empty", "cannot be empty", "env dockerfile"),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """The engine's own words are the best there are."""
        line = re.search(r"line (\d+)", failure.text)
        if "no build stage" in match[0]:
            advice = "the first instruction (but for ARG) has to be FROM"
        elif "empty" in match[0] or "no instructions" in match[0]:
            advice = "write it anew: `lmr-author env dockerfile`"
        else:
            advice = f"correct the Dockerfile{f' on line {line[1]}' if line else ''}"
            advice += "; a command over several lines needs a backslash at the end of each but the last"
        return self.told(f"the Dockerfile cannot be read: {match[0]}", advice)


class NothingToCopy(Explainer):
    """COPY or ADD of what is not in the context."""

    name = "copy"
    stages = ("build",)
    pattern = compiled(
        r"(?:COPY|ADD) failed: [^\n]*?(?:stat|excluded by \.dockerignore: stat) (\S+?):",
        r"(?:COPY|ADD) failed: [^\n]*",
        r"failed to compute cache key[^\n]*",
        r"forbidden path outside the build context[^\n]*",
    )
    examples = (
        Example(
            "COPY failed: file not found in build context or excluded by .dockerignore: stat absent.txt: file"
            " does not exist",
            "absent.txt is not in the task folder, or .dockerignore excludes it",
            ".dockerignore",
        ),
        Example(
            "COPY failed: forbidden path outside the build context: ../x ()",
            "forbidden path",
            "inside the task folder",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Which file, if the engine names it."""
        if match.lastindex:
            return self.told(
                f"{match[1]} is not in the task folder, or .dockerignore excludes it",
                "correct the COPY (the build argument DIR is the repository's folder), or .dockerignore",
            )
        return self.told(match[0], "copy only what lies inside the task folder")


class OldRelease(Explainer):
    """A Debian or Ubuntu that the mirrors no longer have."""

    name = "end-of-life"
    stages = ("build",)
    pattern = compiled(
        r"The repository '(\S+) (\S+?) Release' (?:does not have|no longer has) a Release file",
        r"Err:\d+ (\S+) (\S+) Release\s+404",
        r"Failed to fetch (http\S+?/(?:debian|ubuntu)\S*)/dists/(\S+?)/\S*\s+404",
    )
    examples = (
        Example(
            "Err:2 http://deb.debian.org/debian stretch Release\n  404  Not Found [IP: 203.0.113.80 80]\n"
            "E: The repository 'http://deb.debian.org/debian stretch Release' does not have a Release file.",
            "stretch is no longer on",
            "archive.debian.org",
        ),
        Example(
            "E: The repository 'http://ppa.launchpad.net/x/ubuntu focal Release' no longer has a Release"
            " file.",
            "focal is no longer on",
            "newer base image",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Debian keeps its old releases in one place; for others only a newer base helps."""
        groups = [group for group in match.groups() if group]
        place, release = groups[0], groups[1]
        cause = f"the base image's {release} is no longer on {place}"
        if "debian.org" in place:
            change = ArchivedMirrors()
            return self.told(cause, f"{change}, or choose a newer base image", change)
        return self.told(cause, "choose a newer base image, or its vendor's archive of old releases")


class NoAptPackage(Explainer):
    """A Debian package that this release does not have."""

    name = "apt-package"
    stages = ("build",)
    pattern = compiled(
        r"E: Unable to locate package (\S+)", r"E: Package '(\S+)' has no installation candidate"
    )
    examples = (
        Example(
            "Reading package lists...\nBuilding dependency tree...\nE: Unable to locate package"
            " no-such-libfoo",
            "no package no-such-libfoo",
            "apt-get update",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """Either its name, or the package lists were never fetched."""
        name = next(group for group in match.groups() if group)
        advice = "correct its name for this release"
        if "apt-get update" not in failure.where and "apt update" not in failure.where:
            advice = "run apt-get update before it, in the same RUN; or correct its name for this release"
        else:
            advice += "; apt-get update has to run in the same RUN"
        return self.told(f"the base image's Debian has no package {name}", advice)


class NoManualPages(Explainer):
    """Java's packages link their manual pages into a folder that slim images lack."""

    name = "manual-pages"
    stages = ("build",)
    pattern = compiled(r"error creating symbolic link '(/usr/share/man/[^']*)'")
    examples = (
        Example(
            "update-alternatives: error: error creating symbolic link '/usr/share/man/man1/java.1.gz.dpkg-tmp': No"
            " such file or directory\ndpkg: error processing package openjdk-17-jre-headless:amd64 (--configure):",
            "the base image has no folder for manual pages",
            "/usr/share/man/man1",
        ),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """An empty folder is enough."""
        change = ManualPages()
        return self.told(
            "a package of the system links its manual pages, and the base image has no folder for manual pages",
            str(change),
            change,
        )


class NoProgram(Explainer):
    """A command that the image does not have."""

    name = "no-program"
    stages = ("build", "install")
    pattern = compiled(
        r"sh: (?:\d+: )?(?:line \d+: )?([\w.+/-]+): (?:command )?not found",
        r"^bash: line \d+: ([\w.+/-]+): command not found",
        r"\.sh: (?:line )?\d+: ([\w.+/-]+): (?:command )?not found",
        r"Cannot find command '([\w-]+)'",
        r"error: command '([\w.+/-]+)' failed: No such file",
        r"unable to execute '([\w.+/-]+)'",
        r"No such file or directory: '([\w.+/-]+)' *$",
        r"(pg_config) executable not found",
        r"Could not find ([\w+-]+) executable",
        r"(CMake) must be installed to build",
        r"env: '?([\w.+-]+)'?: No such file or directory",
        r"(git) executable not found|`(git)` executable|Git executable not found",
    )
    examples = (
        Example("/bin/sh: 1: wget: not found", "the image has no wget", "system package wget"),
        Example(
            "  ./build_bundled.sh: 20: cmake: not found\n  subprocess.CalledProcessError: Command "
            "'['./build_bundled.sh', '0.1.97']' returned non-zero exit status 127.\n"
            "error: legacy-install-failure\n\n╰─> sentencepiece",
            "sentencepiece is compiled, and the image has no cmake",
            "system packages build-essential, cmake",
        ),
        Example(
            "ERROR: Cannot find command 'git' - do you have 'git' installed and in your PATH?",
            "the image has no git",
            "system package git",
        ),
        Example(
            "      error: command 'x86_64-linux-gnu-gcc' failed: No such file or directory\n      [end of"
            " output]\nerror: legacy-install-failure\n\n× Encountered error while trying to install"
            " package.\n╰─> editdistance",
            "editdistance is compiled, and the image has no x86_64-linux-gnu-gcc",
            "system packages build-essential, python3-dev",
        ),
        Example(
            "      Error: pg_config executable not found.\n      pg_config is required to build psycopg2 from"
            " source.",
            "no pg_config",
            "libpq-dev",
        ),
        Example("/bin/sh: 1: nvcc: not found", "no nvcc", "-devel"),
        Example("/bin/sh: 1: frobnicate: not found", "the image has no frobnicate", "correct its name"),
    )

    def explain(self, match: re.Match[str], failure: Failure) -> Explanation:
        """A package of Debian, the CUDA compiler, or something of the task's own."""
        program = next(group for group in match.groups() if group).replace("CMake", "cmake")
        package = system_packages.program(program)
        compiling = being_built(failure.text)
        cause = (
            f"{compiling} is compiled, and the image has no {program}"
            if compiling
            else f"the image has no {program}"
        )
        if program.rpartition("/")[2] == "nvcc":
            return self.told(cause, "use a -devel base image, which has the CUDA compiler")
        if not package:
            return self.told(cause, "correct its name, or install what has it earlier in the Dockerfile")
        names = (system_packages.COMPILER, package) if compiling else (package,)
        if package == system_packages.COMPILER:
            names = (package, "python3-dev")
        change = SystemPackages(tuple(dict.fromkeys(names)))
        return self.fixable(cause, change)


DOCKERFILES: tuple[type[Explainer], ...] = (
    BuildKitOnly,
    Syntax,
    NothingToCopy,
    OldRelease,
    NoAptPackage,
    NoManualPages,
    NoProgram,
)

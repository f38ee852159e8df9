"""Detect what a repository needs: a pure function of its files and its commit's date."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import TORCH_FAMILY, Task, provenance
from lmr_author.core.task.environment import BuiltEnvironment
from lmr_author.core.texts import listed, printable
from lmr_author.runtime.environment.base_images import INSTALLED_BY, BaseImage, choose_base, other_python
from lmr_author.runtime.environment.code import Code, imported_packages, providing, read_code
from lmr_author.runtime.environment.manifests import read_manifest
from lmr_author.runtime.environment.needs import (
    NOTHING,
    Declared,
    Fact,
    Needs,
    SystemPackage,
    Unused,
    applies,
    exact_version,
    has_version,
    is_freeze,
)
from lmr_author.runtime.environment.packages import (
    interchangeable,
    known_debian,
    names,
    system_packages,
    table,
)
from lmr_author.runtime.environment.place import RepositoryPlace, base_of, text_of
from lmr_author.runtime.environment.requirements import Manifest, read_commands, read_requirements, read_text
from lmr_author.runtime.replay import staging

_REQUIREMENTS = re.compile(r"^(pip[-_]?)?(requirements?|reqs?)([-_.].*)?\.(txt|in)$", re.I)
_NOT_FOR_RUNNING = re.compile(
    r"(^|[-_./])(dev|tests?|docs?|lint|ci|build|examples?|optional|extras?|pre-commit.*|mkdocs)([-_./]|$)",
    re.I,
)
_CONDA = re.compile(r"^(environment|env|conda|requirements?)([-_.].*)?\.ya?ml$", re.I)
_SCRIPT = re.compile(
    r"^(install|setup|env|environment|create_env|bootstrap|prepare)([-_.].*)?\.(sh|bash)$", re.I
)
_README = re.compile(r"^(readme|install(ation|ing)?|setup|requirements)(\.(md|rst|txt))?$", re.I)
_DOCKERFILE = re.compile(r"^(Dockerfile([.-][\w.-]+)?|[\w-]+\.Dockerfile)$", re.I)
_SETUP_FOLDERS = ("scripts", "install", "setup", "conda", "env", "envs", "environment", "environments")
_CUDA = re.compile(r"nvidia-.*-cu\d+$")
_VERSIONS = ("uv.lock", "poetry.lock", "pdm.lock", ".python-version", "runtime.txt")


def read_needs(repo: Path, commit_date: datetime | None = None, goals: Sequence[str] = ()) -> Needs:
    """Return what the repository in the folder ``repo`` needs.

    Declared requirements are taken from its top folder: requirements files first, then conda's environment,
    pyproject.toml, setup.cfg, setup.py and installation scripts; a later file does not change what an
    earlier one pins. What the main code imports without declaring it is added; where nothing is declared,
    everything that the code imports is used. README and Dockerfile only help to choose versions.

    Args:
        goals: only what these files import is required; the rest of what is declared constrains its versions.
    """
    manifests = _manifests(repo)
    code = read_code(repo)
    project = next((manifest.project for manifest in manifests if manifest.project), "")
    chosen, remarks = _choose(manifests, code, project)
    requirements = [item for item in chosen if not project or item.name != project]
    for item in chosen:
        if item not in requirements:
            # Installing the published form of the repository's own package would ship the solution.
            remarks.append(f"{item.origin}: not used, {item.name} is this repository's own package")
    remarks += _remarks_on_code(code)
    python, problems = _python(manifests)
    apt: list[Fact] = []
    unused: list[Unused] = []
    for manifest in manifests:
        apt += manifest.apt
        unused += [item for item in manifest.unused if not project or item.name != project]
    for package in apt:
        if not known_debian(package.text) and package.text not in names("system_common"):
            remarks.append(f"not installed, a system package: {printable(str(package))}")
    reported = [problem for manifest in manifests for problem in manifest.problems]
    needs = Needs(
        requirements=tuple(item for item in requirements if not _is_of_image(item)),
        torch=tuple(item for item in requirements if item.name in TORCH_FAMILY),
        python=python.text,
        python_origin=python.origin,
        project=project,
        own_version=_own_version(manifests) if project and code.asks_version else "",
        devel=_compiled_for_cuda(requirements),
        source_folder=staging.source_folder(repo),
        date=commit_date,
        sources=tuple(manifest.path for manifest in manifests if manifest.says_more_than_problems),
        problems=tuple(dict.fromkeys([*reported, *problems, *map(str, unused), *remarks])),
        constraints=_constraints(manifests, project),
        unused=tuple(dict.fromkeys(unused)),
        system=_system(requirements, apt),
        nltk=code.nltk,
    )
    return _only(needs, code, goals) if goals else needs


def _remarks_on_code(code: Code) -> list[str]:
    remarks = []
    if code.manifests:
        parts = listed([printable(path) for path in code.manifests], 5)
        remarks.append(f"not used, for a part of the repository only: {parts}")
    if not code.files:
        remarks.append("there are no Python files beside tests and documentation")
    if code.gpu:
        advice = "`lmr-author record --cuda-as-cpu` runs it on the CPU"
        remarks.append(f"insists on a GPU: {listed(code.gpu, 3)}; {advice}")
    return remarks


def _is_of_image(requirement: Declared) -> bool:
    """Recognize what the base image brings: PyTorch, its companions, and CUDA's libraries."""
    return requirement.name in TORCH_FAMILY or _CUDA.match(requirement.name) is not None


def _compiled_for_cuda(requirements: Sequence[Declared]) -> str:
    """Return why the image needs CUDA's compiler; "" where it does not."""
    for item in requirements:
        if item.name in names("built_with_torch") or item.name == "deepspeed":
            return f"{item} compiles CUDA code"
    return ""


def _constraints(manifests: Sequence[Manifest], project: str) -> tuple[Declared, ...]:
    """Return the versions of lock files, sorted by name; of several for one package the first."""
    constraints: dict[str, Declared] = {}
    for manifest in manifests:
        for item in manifest.constraints:
            if applies(item) and item.name != project:
                constraints.setdefault(item.name, item)
    return tuple(constraints[name] for name in sorted(constraints))


@dataclass(frozen=True)
class Detected:
    """The needs of a repository, and the image that fits."""

    place: RepositoryPlace
    needs: Needs
    base: BaseImage

    @property
    def problems(self) -> tuple[str, ...]:
        """Return what the annotator should know of the repository, and of the image that was chosen for it."""
        return problems(self.needs, self.base)


def detect(
    place: RepositoryPlace,
    *,
    base_image: str | None = None,
    python: str | None = None,
    goals: Sequence[str] = (),
) -> Detected:
    """Return what the repository needs, and the image that fits."""
    if base_image is not None:
        choose_base(Needs(), base_image)  # a reference that is none is not passed over
    needs = read_needs(place.folder, place.date, goals)
    if place.task is None:
        base = choose_base(needs, base_image, python)
    else:
        base = base_in_use(place.task, needs, base_image, python)
    return Detected(place, needs, base)


def base_in_use(task: Task, needs: Needs, image: str | None, python: str | None) -> BaseImage:
    """Return the base image for some needs: the one that is given, else the Dockerfile's, else the one that fits.

    Its Python is the one that is given, else the one that a build found, or that the annotator gave before.
    """
    image = image or base_of(text_of(task.dockerfile)) or None
    if image and python is None:
        built = BuiltEnvironment.read_if_valid(task.environment_path)
        before = provenance.load(task).environment.base_image
        certain = before.python if before.reference == image and before.python_certain else ""
        found = built.python if built and built.base_image == image else certain
        version = re.match(r"3\.\d+", found)
        python = version[0] if version else None
    own = choose_base(needs, None, python)
    try:
        return own if image in (None, own.reference) else choose_base(needs, image, python)
    except LmrError:  # a Dockerfile made by hand may say anything after FROM
        return own


def problems(needs: Needs, base: BaseImage) -> tuple[str, ...]:
    """Return what an annotator should know: of the repository, and of the image that was chosen for it."""
    return (*filter(None, [other_python(needs, base)]), *needs.problems)


def _manifests(repo: Path) -> list[Manifest]:
    """Read every file that says what is needed, in the order in which they count; not those that say nothing."""
    top = _files(repo)
    requirements = _requirements_files(repo, top)
    read = [read_requirements(repo, name) for name in requirements]
    read += [read_manifest(repo, name) for name in _conda_files(repo, top)[:1]]
    read += [read_manifest(repo, name) for name in INSTALLED_BY if name in top]
    read += [read_commands(repo, name) for name in top if _SCRIPT.match(name)]
    for folder in _SETUP_FOLDERS:
        if any(manifest.declared for manifest in read):
            break
        inside = _files(repo / folder)
        conda = _conda_files(repo / folder, inside)[:1]
        read += [read_manifest(repo, f"{folder}/{name}") for name in conda]
        read += [read_commands(repo, f"{folder}/{name}") for name in inside if _SCRIPT.match(name)]
    spoken = [read_commands(repo, name) for name in top if _README.match(name) and name not in requirements]
    if not any(manifest.declared for manifest in read):
        spoken += [read_commands(repo, name) for name in _readmes_of_parts(repo)]
    for folder in ("", "docker/", ".devcontainer/"):
        dockerfiles = [name for name in _files(repo / folder) if _DOCKERFILE.match(name)]
        spoken += [read_commands(repo, f"{folder}{name}") for name in dockerfiles]
    read += _included(repo, read, spoken)
    read += [read_manifest(repo, name) for name in _VERSIONS if name in top]
    return [manifest for manifest in [*read, *spoken] if manifest != Manifest(manifest.path)]


def _readmes_of_parts(repo: Path) -> Iterator[str]:
    """Yield the READMEs of folders of code, which say of a repository with several projects what each needs."""
    for folder in sorted(path.name for path in repo.iterdir() if path.is_dir()):
        inside = _files(repo / folder)
        if any(name.endswith(".py") for name in inside):
            yield from (f"{folder}/{name}" for name in inside if _README.match(name))


def _files(folder: Path) -> list[str]:
    """The names of a folder's files, sorted; none of a folder that is absent or a link."""
    if not folder.is_dir() or folder.is_symlink():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def _requirements_files(repo: Path, top: list[str]) -> list[str]:
    """``requirements.txt``, else others like it, else those of the folder ``requirements/``."""
    if "requirements.txt" in top:
        return ["requirements.txt"]
    others = [name for name in top if _REQUIREMENTS.match(name)]
    others = others or [
        f"requirements/{name}" for name in _files(repo / "requirements") if name.endswith(".txt")
    ]
    return [name for name in others if not _NOT_FOR_RUNNING.search(name)]


def _conda_files(folder: Path, inside: list[str]) -> list[str]:
    """Conda files by their usual names, then of any name: YAML with a list of dependencies."""
    yaml = [name for name in inside if name.endswith((".yml", ".yaml")) and not _NOT_FOR_RUNNING.search(name)]
    usual = [name for name in yaml if _CONDA.match(name)]
    return usual + [name for name in yaml if name not in usual and _looks_like_conda(folder / name)]


def _looks_like_conda(path: Path) -> bool:
    try:
        text = read_text(path)
    except LmrError:
        return False
    return bool(re.search(r"^dependencies:\s*$", text, re.M) and re.search(r"^(channels|name):", text, re.M))


def _included(repo: Path, read: list[Manifest], spoken: list[Manifest]) -> list[Manifest]:
    """Files that a script, a README or a Dockerfile installs; suggestions where another file declares."""
    known = {manifest.path for manifest in read}
    is_declared = any(manifest.declared for manifest in read)
    included: dict[str, Manifest] = {}
    for manifest in (*read, *spoken):
        for name in map(posixpath.normpath, manifest.includes):
            if name in known or _NOT_FOR_RUNNING.search(name) or not files.is_file_inside(repo, name):
                continue
            known.add(name)
            reader = read_manifest if name.endswith((".yml", ".yaml")) else read_requirements
            made = reader(repo, name)
            if is_declared:
                made = replace(made, declared=[], unused=[], suggested=made.declared)
            included[name] = made
    return list(included.values())


def _python(manifests: Sequence[Manifest]) -> tuple[Fact, list[str]]:
    """The Python that is asked for: where pip reads it, else the first file that names one; and what is unreadable."""
    pythons, unreadable = [], []
    for fact in (manifest.python for manifest in manifests if manifest.python.text):
        try:
            SpecifierSet(fact.text)
            pythons.append(fact)
        except InvalidSpecifier:
            unreadable.append(f"{fact.origin}: the Python version {printable(fact.text, 60)} cannot be read")
    demanded = [fact for fact in pythons if fact.origin.startswith(INSTALLED_BY)]
    return next(iter([*demanded, *pythons]), NOTHING), unreadable


def _only(needs: Needs, code: Code, goals: Sequence[str]) -> Needs:
    """The needs of some files: what they import, themselves or through the repository's other files."""
    imported = imported_packages(code, code.reachable(goals))
    wanted: set[str] = set()
    for item in imported:
        wanted |= providing(item, needs.requirements)
    kept = [item for item in needs.requirements if item.name in wanted]
    known = _with_replacements(kept) | TORCH_FAMILY | {needs.project}
    for item in imported:
        if not item.guessed and not known & interchangeable(item.name):
            kept.append(replace(item, guessed=True))
    rest = [item for item in needs.requirements if item not in kept and exact_version(item.text)]
    return replace(needs, requirements=tuple(kept), constraints=(*rest, *needs.constraints))


def _choose(manifests: Sequence[Manifest], code: Code, project: str) -> tuple[list[Declared], list[str]]:
    """Return the declared requirements, else the imported and mentioned ones; and remarks about the choice."""
    declared, remarks = _renamed(_merge(manifests))
    hints, stated = _hints(manifests, project), _stated(manifests)
    versions = stated | {
        name: item for name, item in hints.items() if has_version(item) or name not in stated
    }
    imported = imported_packages(code, code.main())
    if not declared:
        remarks.append(
            "no requirements are declared: they were derived from the imports, and from commands in the README"
        )
        chosen = [_with_hint(item, versions) for item in imported]
        known = _with_replacements(chosen)
        chosen += [replace(item, mentioned=True) for item in hints.values() if item.name not in known]
    else:
        chosen = []
        for item in declared:
            if not has_version(item):
                # PyTorch takes the version of any command of the README, too, so that the right image is chosen.
                item = _with_hint(item, versions if item.name in TORCH_FAMILY else stated)
            chosen.append(item)
        if not is_freeze(declared):
            for item in _undeclared(imported, declared, project):
                added = _with_hint(replace(item, guessed=True), versions)
                chosen.append(added)
                remarks.append(f"{added.name} is not declared but needed: {added.origin}")
    torch = hints.get("torch")
    if torch is not None and has_version(torch) and all(item.name != "torch" for item in chosen):
        chosen.append(torch)
    return chosen, remarks


def _hints(manifests: Sequence[Manifest], project: str) -> dict[str, Declared]:
    """Return what is only suggested, by name: of several the first that names a version, else the first."""
    hints: dict[str, Declared] = {}
    for manifest in manifests:
        for item in manifest.suggested:
            before = hints.get(item.name)
            if applies(item) and (before is None or (has_version(item) and not has_version(before))):
                hints[item.name] = item
    hints.pop(project, None)
    return hints


def _stated(manifests: Sequence[Manifest]) -> dict[str, Declared]:
    """Return the versions that prose names, by package: of several the first."""
    stated: dict[str, Declared] = {}
    for manifest in manifests:
        for item in manifest.stated:
            stated.setdefault(item.name, item)
    return stated


def _undeclared(imported: Sequence[Declared], declared: Sequence[Declared], project: str) -> list[Declared]:
    """Return the imported packages that nothing declares, neither themselves nor one that replaces them."""
    known = {item.name for item in declared} | {project}
    return [item for item in imported if not item.guessed and not known & interchangeable(item.name)]


def _with_replacements(requirements: Iterable[Declared]) -> set[str]:
    """Return the names of requirements, and of the packages that provide the same modules."""
    known: set[str] = set()
    for item in requirements:
        known |= interchangeable(item.name)
    return known


def _renamed(declared: list[Declared]) -> tuple[list[Declared], list[str]]:
    """Names that are something else on the index, as the packages that are meant."""
    meant, remarks = [], []
    for item in declared:
        name = table("renamed").get(item.name)
        if name is None:
            meant.append(item)
            continue
        remarks.append(
            f"{item.origin}: {item.name} is taken as {name}: on the index that name is something else"
        )
        if all(other.name != name for other in declared):
            meant.append(replace(item, name=name, text=name))
    return meant, remarks


def _merge(manifests: Iterable[Manifest]) -> list[Declared]:
    """One file decides per package: the first that names a version. Its several lines (markers) are kept."""
    chosen: dict[str, list[Declared]] = {}
    for manifest in manifests:
        for item in filter(applies, manifest.declared):
            before = chosen.get(item.name)
            if before is None or (has_version(item) and not any(map(has_version, before))):
                chosen[item.name] = [item]
            elif _file_of(before[0]) == _file_of(item) and item.text not in [same.text for same in before]:
                before.append(item)
    return [item for items in chosen.values() for item in items]


def _file_of(item: Declared) -> str:
    return item.origin.rpartition(":")[0] or item.origin


def _with_hint(item: Declared, hints: dict[str, Declared]) -> Declared:
    """A requirement with the version that a README (a Dockerfile) names."""
    hint = next((hints[name] for name in sorted(interchangeable(item.name)) if name in hints), None)
    if hint is None or hint.name in table("renamed") or (item.name in TORCH_FAMILY and not has_version(hint)):
        return item
    origin = f"{item.origin}, {hint.origin}"
    return replace(item, name=hint.name, text=hint.text, origin=origin, mentioned=has_version(hint))


def _system(declared: Iterable[Declared], apt: Iterable[Fact]) -> tuple[SystemPackage, ...]:
    """Debian packages: those that Python packages need, and those that the repository installs."""
    packages: dict[str, SystemPackage] = {}
    for item in declared:
        for name in system_packages(item.name):
            packages.setdefault(name, SystemPackage(name, f"for {item.name}", item.origin))
    for fact in apt:
        if name := known_debian(fact.text):
            packages.setdefault(name, SystemPackage(name, "the repository installs it", fact.origin))
    if "default-jdk-headless" in packages:
        packages.pop("default-jre-headless", None)
    return tuple(packages[name] for name in sorted(packages))


def _own_version(manifests: Sequence[Manifest]) -> str:
    """The version that a repository gives its package; ``0`` where it computes one, or names none."""
    for manifest in manifests:
        try:
            return str(Version(manifest.version))
        except InvalidVersion:
            continue
    return "0"

"""``env local``: make a task's environment on this machine, and choose the interpreter of the local sandbox."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress, Task, TaskInfo
from lmr_author.core.task.environment import BuiltEnvironment
from lmr_author.runtime.environment import interpreters, lock_file, place, uv_command, venvs
from lmr_author.runtime.environment.base_images import asking, unmet
from lmr_author.runtime.environment.build import Imported, import_files, sandbox_of
from lmr_author.runtime.environment.detect import base_in_use, read_recipe
from lmr_author.runtime.environment.dockerfile import tell_own_version
from lmr_author.runtime.environment.failures import local_repair
from lmr_author.runtime.environment.recipe import Recipe
from lmr_author.runtime.replay import staging
from lmr_author.runtime.sandbox.base import Mount
from lmr_author.runtime.sandbox.local import LocalSandbox


def make_local(
    task: Task, say: Progress, *, python: str | None = None, extra: Sequence[str] = (), cuda: bool = False
) -> tuple[venvs.LocalEnvironment, tuple[str, ...]]:
    """Find or make the virtual environment for a task's lock, import the goal files in it; return it with remarks.

    PyTorch, which the base image brings in Docker, is added at the base image's version, unless ``extra``
    names another, or the repository does not use it; so are torchvision and torchaudio.

    Args:
        python: a version that must be on this machine, or an interpreter's path; None is the lock's, or the nearest.
        extra: more requirements.
        cuda: CUDA libraries may be installed although there is no GPU.

    Raises LmrError: no lock, no such Python here, something that cannot be installed.
    """
    info = task.load()
    if not task.lock.is_file():
        raise LmrError(f"{task.name} has no requirements.lock", "write it: `lmr-author env lock`")
    lock = place.text_of(task.lock)
    recipe = read_recipe(task.repository(info))
    base = base_in_use(task, recipe, None, lock_file.python(lock) or None)
    chosen, remark = interpreters.choose(base.python, python, interpreters.interpreters())
    built = BuiltEnvironment.read_if_valid(task.environment_path)
    image_torch = base.torch or (built.torch.partition("+")[0] if built else "")
    extra = with_torch(extra, image_torch if recipe.torch else "", recipe)
    try:
        made = venvs.make(lock, chosen, extra, cuda=cuda or venvs.has_gpu(), say=say)
    except LmrError as error:
        hint = error.hint
        if chosen.minor != base.python:
            command = f"`lmr-author env lock --python-version {chosen.minor}`"
            hint = (
                f"requirements.lock is for Python {base.python}: {command} makes one for this Python; {hint}"
            )
        elif f"torch=={image_torch}" in extra and "torch" in error.message:
            hint = f"{hint}; or give another version than the base image's, as in --with torch==2.13.0"
        raise LmrError(error.message, hint) from error
    tell_own_version(made.packages, recipe)
    remarks = [remark] if remark else []
    if unmet(recipe, chosen.minor):
        advice = "the code may not run there; --python X.Y takes another that is on this machine"
        remarks.append(f"{asking(recipe)}, and this environment has {chosen.minor}: {advice}")
    if not any(text.startswith("torch==") for text in extra):
        why = (
            "as the base image's version is not known"
            if recipe.torch
            else "which the repository does not use"
        )
        remarks.append(f"without PyTorch, {why}; --with torch==VERSION adds it")
    if why := uv_command.why_only_wheels(uv_command.settings_with_pip()):
        remarks.append(f"only wheels are installed, and nothing was compiled or started: {why}")
    for item in _import_goals(task, info, made.interpreter, lock, say) if LocalSandbox().isolating else ():
        if not item.result.ok:
            last = item.result.said[-1] if item.result.said else "it says nothing"
            found = item.explanation
            said = f"{found.cause}; {found.advice}; {local_repair(found)}" if found else last
            remarks.append(f"{item.result.file} cannot be imported here: {said}")
    return made, tuple(remarks)


def with_torch(extra: Sequence[str], torch: str, recipe: Recipe) -> tuple[str, ...]:
    """Return the extra packages with PyTorch, as the base image has it, unless the annotator names one.

    Args:
        torch: the base image's version; "" for none.
        recipe: torchvision and torchaudio are added where it names them; each asks for the one PyTorch that fits it.

    Raises LmrError for a PyTorch without a version: the newest one pulls gigabytes of CUDA libraries.
    """
    named = set()
    for text in extra:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            hint = "give one such as torch==2.6.0"
            raise LmrError(f"--with {text}: no requirement ({error})", hint) from error
        named.add(requirement.name.lower())
        if requirement.name.lower() == "torch" and "==" not in str(requirement.specifier):
            raise LmrError(
                f"--with {text} names no version of PyTorch: the newest one pulls gigabytes of CUDA libraries",
                f"pin it, as in --with torch=={torch or '2.6.0'}",
            )
    ours = [f"torch=={torch}"] if torch and "torch" not in named else []
    used = {item.name for item in recipe.torch} - named
    beside = [name for name in ("torchaudio", "torchvision") if name in used]
    return (*extra, *ours, *(beside if ours or "torch" in named else ()))


def _import_goals(task: Task, info: TaskInfo, python: Path, lock: str, say: Progress) -> list[Imported]:
    """Import each goal file with an interpreter of this machine, in the local sandbox; [] where nothing is masked.

    Raises SandboxError when the interpreter does not run in it.
    """
    repository = task.repository(info)
    wanted = [name for name in place.goal_files(info) if files.is_file_inside(repository, name)]
    if not wanted:
        return []
    say(f"importing {', '.join(wanted)}")
    inside = staging.tree_path(info)
    with (
        files.temporary_folder("lmr-author-import-") as work,
        sandbox_of(task, info, "local", python=python) as sandbox,
    ):
        work.chmod(0o755)
        staging.copy_tree(repository, work / "tree", {}, with_tests=False)
        sandbox.prepare()
        return import_files(sandbox, inside, wanted, mounts=[Mount(work / "tree", inside)], lock=lock)


def interpreter_for(task: Task, sandbox: str, python: Path | None) -> tuple[Path | None, str]:
    """Return the interpreter that a local sandbox runs, and a remark ("" for none).

    It is ``python`` when one is given; else that of the environment that `env local` made for the task's
    lock, if there is one; else None, which is the one that runs this.
    """
    if python is not None or sandbox == "docker" or not task.lock.is_file():
        return python, ""
    found = venvs.find(place.text_of(task.lock))
    if found is None:
        return None, ""
    venvs.touch(found)
    return found.interpreter, f"in the environment made by `lmr-author env local` (Python {found.python})"


def other_python(task: Task, sandbox: str, python: Path | None) -> str:
    """Return a name for an interpreter that somebody asked for in place of the task's own; "" for that.

    It is that of its virtual environment and a few digits of where it lies, such as ``dpo-env-3f2a91c0``: enough to
    tell two on one machine apart, and no path.
    """
    if python is None or sandbox == "docker":
        return ""
    name, folder = _environment_of(python)
    own, _ = interpreter_for(task, sandbox, None)
    if folder == _environment_of(own or Path(sys.executable))[1]:
        return ""
    return f"{name}-{files.sha256_bytes(os.fsencode(folder))[:8]}"


def _environment_of(python: Path) -> tuple[str, Path]:
    """The name and the folder of an interpreter's virtual environment; its own where it is in none."""
    path = Path(os.path.normpath(Path(shutil.which(str(python)) or python).absolute()))
    folder = path.parent.parent
    return (folder.name, folder) if (folder / "pyvenv.cfg").is_file() else (path.name, path)


def where_it_runs(sandbox: str, python: Path | None, about: str) -> str:
    """Return the Python that a local sandbox runs, where nobody named one; "" where somebody did, and for an image.

    Args:
        python, about: what :func:`interpreter_for` said.
    """
    if about or sandbox == "docker" or python is not None:
        return "" if sandbox == "docker" else about
    version = ".".join(map(str, sys.version_info[:3]))
    return (
        f"with lmr-author's own Python {version} ({sys.executable}): this task has no environment yet; `lmr-author env "
        "local` makes one, and --python names another"
    )

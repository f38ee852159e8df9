"""``env local``: make a task's environment on this machine, and choose the interpreter of the local sandbox."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author import files
from lmr_author.environment import interpreters, lock_file, records, venvs
from lmr_author.environment.build import sandbox_of
from lmr_author.environment.detect import read_recipe
from lmr_author.environment.dockerfile import tell_own_version
from lmr_author.environment.failures import Explanation
from lmr_author.environment.pythons import asking, unmet
from lmr_author.environment.recipe import Recipe
from lmr_author.environment.repair import OF_THE_LOCK, Repair, Repairs
from lmr_author.environment.smoke import Imported, first_explained, import_files
from lmr_author.errors import LmrError
from lmr_author.replay import staging
from lmr_author.sandbox.base import Mount
from lmr_author.task import Progress, Task, TaskInfo


@dataclass(frozen=True)
class LocalOptions:
    """The options of ``env local``.

    Attributes:
        python: a version that must be on this machine; None is the lock's, or the nearest.
        extra: more requirements.
        cuda: CUDA libraries may be installed although there is no GPU.
        fix: change the lock where something in it cannot be installed, as ``env build --fix`` does.
    """

    python: str | None = None
    extra: tuple[str, ...] = ()
    cuda: bool = False
    fix: bool = False


@dataclass(frozen=True)
class LocalResult:
    """The environment, remarks for the annotator, and what was changed in the lock."""

    local: venvs.Local
    remarks: tuple[str, ...]
    repairs: tuple[Repair, ...] = ()


def make_local(
    task: Task,
    options: LocalOptions,
    say: Progress,
    on_repair: Callable[[Repair], None] = lambda _: None,
) -> LocalResult:
    """Find or make the virtual environment for a task's lock.

    PyTorch, which the base image brings in Docker, is added at the base image's version, unless ``extra``
    names another, or neither the repository nor anything that its lock pins needs it; so are torchvision and
    torchaudio where the repository uses them.

    Raises LmrError: no lock, no such Python here, something that cannot be installed.
    """
    info = task.load()
    if not task.lock.is_file():
        raise LmrError(f"{task.name} has no requirements.lock", "write it: `lmr-author env lock`")
    known = records.known(task)
    python, remark = interpreters.choose(known.python, options.python, interpreters.interpreters())
    recipe = read_recipe(task.repository(info))
    declared = frozenset(item.name for item in recipe.torch)
    repairs = Repairs(task, None, say, lock_only=True)

    def again() -> LocalResult:
        made = _once(task, options, known, python, declared, say)
        tell_own_version(made.local.packages, recipe)
        return made

    if options.fix and (early := repairs.ahead(python.minor)):
        on_repair(early)
    while True:
        try:
            result = again()
        except venvs.NotInstalled as error:
            if not (options.fix and _repaired(repairs, error.explanation, python, on_repair)):
                raise _with_fix(error, options.fix) from error
            continue
        imported = import_goals(task, info, result.local.interpreter, say)
        wrong = first_explained(imported)
        if not (options.fix and wrong and _repaired(repairs, wrong, python, on_repair)):
            break
    if repairs.made and repairs.made[-1].undone:
        result = again()  # it is there already: the lock is again what it was
    said = [remark, _other_python(recipe, python), *result.remarks]
    if repairs.made:
        said.append(_for_another(known.python, lock_file.python(records.text(task.lock))))
    said += [_not_imported(item, options.fix) for item in imported if not item.ok]
    return replace(result, remarks=tuple(filter(None, said)), repairs=tuple(repairs.made))


def _once(
    task: Task,
    options: LocalOptions,
    known: records.Known,
    python: interpreters.Interpreter,
    declared: frozenset[str],
    say: Progress,
) -> LocalResult:
    """One attempt, with the lock as it is now. ``declared``: PyTorch's packages that the repository names."""
    lock = records.text(task.lock)
    torch = known.base.torch or _built_torch(task)
    needs_torch = bool(declared) or venvs.brings_torch(lock, python)
    extra = venvs.with_torch(options.extra, torch if needs_torch else "", declared)
    try:
        made = venvs.make(
            lock,
            python,
            extra,
            pinned=lock_file.is_pinned(lock),
            cuda=options.cuda or venvs.has_gpu(),
            say=say,
        )
    except LmrError as error:
        ours = torch if f"torch=={torch}" in extra and f"torch=={torch}" not in options.extra else ""
        raise _with_what_else(
            error, ours, lock_file.python(records.text(task.lock)) or known.python, python
        ) from error
    without = "" if any(text.startswith("torch==") for text in extra) else _without_torch(needs_torch)
    return LocalResult(made, (without,))


def _repaired(
    repairs: Repairs,
    found: Explanation,
    python: interpreters.Interpreter,
    on_repair: Callable[[Repair], None],
) -> bool:
    """Make the next change of the lock that may help. Returns whether there was one."""
    if repairs.did_not_help(found):
        on_repair(repairs.undo())
    made = repairs.repair(found, python.minor)
    if made is not None:
        on_repair(made)
    return made is not None


def import_goals(task: Task, info: TaskInfo, python: Path, say: Progress) -> list[Imported]:
    """Import each goal file with an interpreter of this machine, in the local sandbox; [] where nothing is masked.

    Raises SandboxError when the interpreter does not run in it.
    """
    goals = records.goal_files(info)
    wanted = tuple(name for name in goals if files.inside(task.repository(info), name).is_file())
    if not wanted:
        return []
    say(f"importing {', '.join(wanted)}")
    inside = staging.tree_path(info)
    with (
        files.temporary_folder("lmr-author-import-") as work,
        sandbox_of(task, info, "local", python=python) as sandbox,
    ):
        work.chmod(0o755)
        staging.copy_tree(task.repository(info), work / "tree", {}, with_tests=False)
        sandbox.prepare()
        return import_files(sandbox, inside, wanted, mounts=[Mount(work / "tree", inside)])


def for_here(found: Explanation) -> Explanation:
    """Return an explanation in the words of this machine: the image has no part in it."""
    words = (
        ("the base image's", "this environment's"),
        ("the base image", "this environment"),
        ("a base image", "an environment"),
        ("the image's", "this"),
    )
    cause, advice = found.cause, found.advice
    for before, after in words:
        cause, advice = cause.replace(before, after), advice.replace(before, after)
    return replace(found, cause=cause, advice=advice)


def _not_imported(item: Imported, fix: bool) -> str:
    """A remark on a goal file that cannot be imported in the environment."""
    if item.explanation is None:
        return f"{item.file} cannot be imported here: {item.said[-1] if item.said else 'it says nothing'}"
    found = for_here(item.explanation)
    more = (
        "; `lmr-author env local --fix` does that"
        if found.fix is not None and found.fix.kind in OF_THE_LOCK and not fix
        else ""
    )
    return f"{item.file} cannot be imported here: {found.cause}; {found.advice}{more}"


def _other_python(recipe: Recipe, python: interpreters.Interpreter) -> str:
    """A remark where the repository asks for another Python than the environment's."""
    asked = unmet(recipe, python.minor)
    advice = "the code may not run there; --python X.Y takes another that is on this machine"
    return f"{asking(asked)}, and this environment has {python.minor}: {advice}" if asked else ""


def _with_fix(error: venvs.NotInstalled, tried: bool) -> LmrError:
    """An error with what ``--fix`` could do about it, or that it did what it could."""
    change = error.explanation.fix
    if tried:
        return LmrError(
            error.message, f"nothing that --fix may change in requirements.lock helps: {error.hint}"
        )
    if change is not None and change.kind in OF_THE_LOCK:
        return LmrError(
            error.message, f"`lmr-author env local --fix` tries what the lock can do; {error.hint}"
        )
    return error


def _for_another(before: str, now: str) -> str:
    """A remark on a lock that was made for another Python, for the image."""
    if not now or now == before:
        return ""
    return (
        f"requirements.lock is for Python {now} now, and was for {before}: `env build`, `record` and `evaluate` in "
        f"Docker need a base image with Python {now}, or the old lock, which is in authoring/removed/"
    )


def _with_what_else(error: LmrError, torch: str, wanted: str, python: interpreters.Interpreter) -> LmrError:
    """An error with what else there is, where a choice of ours or another Python stands behind it.

    Args:
        torch: the version that we chose; "" when the annotator did.
        wanted: the Python that the lock is for.
    """
    message, hint = error.message, error.hint
    if torch and "torch" in message:
        message += f" (PyTorch {torch} is what the base image has)"
        hint = f"{hint}; or give another version, as in --with torch==2.13.0"
    elif python.minor != wanted:
        hint = (
            f"requirements.lock is for Python {wanted}: `lmr-author env lock --python-version {python.minor}` makes "
            f"one for this Python; {hint}"
        )
    if isinstance(error, venvs.NotInstalled):
        return venvs.NotInstalled(message, hint, error.explanation)
    return LmrError(message, hint)


def _built_torch(task: Task) -> str:
    """The PyTorch that a build found in the image, without its build (``+cpu``); "" when there was none."""
    return str((records.stored(task) or {}).get("torch", "")).partition("+")[0]


def _without_torch(needed: bool) -> str:
    if needed:
        return "without PyTorch, as the base image's version is not known; --with torch==VERSION adds it"
    return "without PyTorch, which nothing here needs; --with torch==VERSION adds it"


def interpreter_for(task: Task, sandbox: str, python: Path | None) -> tuple[Path | None, str]:
    """Return the interpreter that a local sandbox runs, and a remark ("" for none).

    It is ``python`` when one is given; else that of the environment that `env local` made for the task's
    lock, if there is one; else None, which is the one that runs this.
    """
    if python is not None or sandbox == "docker" or not task.lock.is_file():
        return python, ""
    found = venvs.find(records.text(task.lock))
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
    name, place = _place_of(python)
    own, _ = interpreter_for(task, sandbox, None)
    if place == _place_of(own or Path(sys.executable))[1]:
        return ""
    return f"{name}-{files.sha256_bytes(os.fsencode(place))[:8]}"


def _place_of(python: Path) -> tuple[str, Path]:
    """The name and the folder of an interpreter's virtual environment; its own where it is in none."""
    path = Path(os.path.normpath(Path(shutil.which(str(python)) or python).absolute()))
    folder = path.parent.parent
    return (folder.name, folder) if (folder / "pyvenv.cfg").is_file() else (path.name, path)


def where_it_runs(sandbox: str, python: Path | None, about: str) -> str:
    """Return the Python that a local sandbox runs, where nobody named one; "" where somebody did, and for an image.

    Args:
        python, about: what :func:`interpreter_for` said.
    """
    if sandbox == "docker" or (python is not None and not about):
        return ""
    if about:
        return about
    version = ".".join(map(str, sys.version_info[:3]))
    return (
        f"with lmr-author's own Python {version} ({sys.executable}): this task has no environment yet; `lmr-author env "
        "local` makes one, and --python names another"
    )

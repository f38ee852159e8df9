"""``env local``: create a task's environment on this machine, and import the goal files in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import Hint, LmrError, Setting
from lmr_author.core.task import Progress, Task, TaskInfo
from lmr_author.core.task.provenance import BuiltEnvironment
from lmr_author.core.texts import printable
from lmr_author.runtime.environment import interpreters, lock_file, uv_command, venvs
from lmr_author.runtime.environment.base_images import asking, unmet
from lmr_author.runtime.environment.build import ImportResult, import_files
from lmr_author.runtime.environment.detect import BESIDE_TORCH, base_in_use, read_needs
from lmr_author.runtime.environment.failures import local_repair
from lmr_author.runtime.environment.needs import Needs
from lmr_author.runtime.environment.packages import package_of
from lmr_author.runtime.environment.requirements import is_address
from lmr_author.runtime.environment.where import Where
from lmr_author.runtime.replay import staging
from lmr_author.runtime.sandbox.base import Mount
from lmr_author.runtime.sandbox.local import LocalSandbox


def make_local(
    task: Task, say: Progress, *, python: str | None = None, extra: Sequence[str] = (), cuda: bool = False
) -> tuple[venvs.LocalEnvironment, tuple[str, ...]]:
    """Find or create the virtual environment of a task, and import the goal files; return it with remarks.

    PyTorch, torchvision and torchaudio are added at the base image's version, unless ``extra`` names another, or the
    repository does not use them.

    Args:
        python: an installed version, or an interpreter's path; None for the lock's version, or the nearest.
        extra: more requirements.
        cuda: allow CUDA libraries although there is no GPU.

    Raises LmrError: no lock, no such Python here, a failed installation.
    """
    info = task.load()
    if not task.lock.is_file():
        raise LmrError(f"{task.name} has no requirements.lock", "generate one with `lmr-author env lock`")
    lock = files.read_text_or_empty(task.lock)
    needs = read_needs(task.repository(info))
    base = base_in_use(task, needs, None, lock_file.python(lock) or None)
    chosen, remark = interpreters.choose(base.python, python)
    built = BuiltEnvironment.read_if_valid(task.environment_path)
    image_torch = base.torch or (built.torch.partition("+")[0] if built else "")
    extra = with_torch(extra, image_torch if needs.torch else "", needs.beside_torch)
    extra = with_numpy(extra, lock)
    contents = venvs.Contents(lock, chosen, extra, needs.own_metadata())
    cuda = cuda or venvs.has_gpu()
    environment = _make(contents, base.python, cuda, say)
    imports = _import_goals(task, info, environment.python.path, lock, say)
    # A package of the lock may import torchvision (timm), which no lock contains.
    missing = {module for each in imports for module in each.result.missing}
    if image_torch and (beside := tuple(sorted(BESIDE_TORCH & missing - set(map(package_of, extra))))):
        contents = replace(contents, extra=with_torch(extra, image_torch, beside))
        environment = _make(contents, base.python, cuda, say)
        imports = _import_goals(task, info, environment.python.path, lock, say)
    venvs.assign(task, environment)
    failed = [imported for imported in imports if not imported.result.ok]
    remarks = [remark, *_remarks(contents, needs)]
    remarks += [_import_failure(imported, environment) for imported in failed]
    return replace(environment, fails=bool(failed)), tuple(filter(None, remarks))


def _make(contents: venvs.Contents, locked_for: str, cuda: bool, say: Progress) -> venvs.LocalEnvironment:
    minor = contents.python.minor
    try:
        return venvs.make(contents, cuda=cuda, say=say)
    except LmrError as error:
        if minor == locked_for:
            raise
        again = f"lock for this Python with `lmr-author env lock --python-version {minor}`"
        hint = f"requirements.lock is for Python {locked_for}: {{0}}; {error.hint}"
        raise LmrError(error.message, Hint(hint, (Setting("--python-version", (minor,), again),))) from error


def _remarks(contents: venvs.Contents, needs: Needs) -> list[str]:
    remarks = []
    if unmet(needs, contents.python.minor):
        advice = "the code may not run; --python X.Y uses another Python of this machine"
        remarks.append(f"{asking(needs)}, but this environment has {contents.python.minor}: {advice}")
    if not any(text.startswith("torch==") for text in contents.extra):
        unknown = "as the base image's version is not known"
        why = unknown if needs.torch else "which the repository does not use"
        remarks.append(f"without PyTorch, {why}; --with torch==VERSION adds it")
    if why := uv_command.why_only_wheels(uv_command.settings_with_pip()):
        remarks.append(f"installed only wheels, without compiling or running anything: {why}")
    return remarks


def _import_failure(imported: ImportResult, environment: venvs.LocalEnvironment) -> str:
    result, explanation = imported.result, imported.explanation
    if explanation is not None:
        why = f"{explanation.cause}; {explanation.advice}; {local_repair(explanation, made_by=environment.made_by)}"
    else:
        why = result.said[-1] if result.said else "without a message"
    return f"{result.file} cannot be imported here: {why}"


def with_torch(extra: Sequence[str], torch: str, beside: Sequence[str]) -> tuple[str, ...]:
    """Return the extra packages with the base image's PyTorch, unless the annotator names one.

    Args:
        torch: the base image's version; "" for none.
        beside: torchvision and torchaudio, if used; each requires its matching PyTorch.
    """
    for text in extra:
        if not package_of(text):
            hint = (
                "write it as 'NAME @ git+https://…'" if is_address(text) else "use one such as torch==2.6.0"
            )
            raise LmrError(f"{printable(text)!r} is not a requirement", Hint(hint, (Setting("--with"),)))
    named = set(map(package_of, extra))
    if "torch" not in named and not torch:
        return tuple(extra)
    image = () if "torch" in named else (f"torch=={torch}",)
    return (*extra, *image, *(name for name in beside if name not in named))


def with_numpy(extra: Sequence[str], lock: str) -> tuple[str, ...]:
    """Return the extra packages with numpy, which PyTorch's images contain: comparing recorded tensors needs it."""
    torch = [_TORCH.fullmatch(text.strip()) for text in extra if package_of(text) == "torch"]
    has_numpy = "numpy" in map(package_of, extra) or re.search(r"^numpy\b", lock, re.MULTILINE)
    if not torch or has_numpy:
        return tuple(extra)
    is_old = torch[0] is not None and tuple(map(int, torch[0].groups())) < (2, 3)
    return (*extra, "numpy<2" if is_old else "numpy")


_TORCH = re.compile(r"torch==(\d+)\.(\d+).*")
"""A pinned PyTorch; builds before 2.3 need a numpy before 2."""


def _import_goals(task: Task, info: TaskInfo, python: Path, lock: str, say: Progress) -> list[ImportResult]:
    """Import each goal file in the local sandbox; [] if nothing is masked, or code must not run.

    Raises SandboxError if the interpreter does not run in it.
    """
    repository = task.repository(info)
    goals = [name for name in info.goal_files if files.is_file_inside(repository, name)]
    if not goals or not LocalSandbox().isolating:
        return []
    say(f"importing {', '.join(goals)}")
    inside = staging.tree_path(info)
    with (
        files.temporary_folder("lmr-author-import-") as work,
        Where(python=python).sandbox(task, info) as sandbox,
    ):
        work.chmod(0o755)
        staging.copy_tree(repository, work / "tree", {}, with_tests=False)
        sandbox.prepare()
        below = staging.source_folder(repository)  # also on the path in the Dockerfile
        env = {"PYTHONPATH": f"{inside}/{below}"} if below else {}
        mounts = [Mount(work / "tree", inside)]
        return import_files(sandbox, inside, goals, mounts=mounts, env=env, lock=lock)

"""The backends that one suite runs against, and how they are known to differ."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lmr_author.runtime.sandbox import bubblewrap
from lmr_author.runtime.sandbox.base import Command, ExecResult, Sandbox
from lmr_author.runtime.sandbox.docker import DockerSandbox
from lmr_author.runtime.sandbox.local import LocalSandbox
from tests.sandbox.building import write

TAG = f"lmr-author/test-conformance-{os.getpid()}:latest"
BASE_IMAGE = os.environ.get("LMR_TEST_BASE_IMAGE", "lmr-author/base:bookworm")
ROOT = os.geteuid() == 0

Python = Callable[..., ExecResult]


class Difference:
    """A backend does not do what a test demands.

    Without ``skip`` the test is run and must fail, so that a difference that is gone is noticed.
    """

    def __init__(self, reason: str, *, skip: bool = False) -> None:
        self.reason = reason
        self.skip = skip


OWN_ERROR = Difference("a limit on the address space shows as the program's own MemoryError")
UNCOUNTED = Difference("the kernel does not count root's processes", skip=True)
NO_NAMESPACES = Difference("without bubblewrap nothing is kept from the host")
FILLS = Difference("without bubblewrap it would fill the machine's own memory", skip=True)
COPIED = Difference("without bubblewrap a read-only mount is a copy: writes succeed and are thrown away")
ROOT_STAYS_ROOT = Difference("without bubblewrap root's commands run as root")

# Test -> backend -> how it differs.
DIFFERENCES: dict[str, dict[str, Difference]] = {
    "test_read_only_mount_refuses_writes": {"local-plain": COPIED},
    "test_network_is_unreachable": {"local-plain": NO_NAMESPACES},
    "test_network_only_when_requested": {"local-plain": NO_NAMESPACES},
    "test_hosts_ports_are_unreachable": {"local-plain": NO_NAMESPACES},
    "test_has_no_privileges": {"local-plain": NO_NAMESPACES},
    "test_host_files_are_hidden": {"local-plain": NO_NAMESPACES},
    "test_host_processes_are_hidden": {"local-plain": NO_NAMESPACES},
    "test_tmp_by_its_own_name_is_private": {"local-plain": NO_NAMESPACES},
    "test_no_user_namespace_is_made_inside": {
        "local-plain": Difference(
            "without bubblewrap a program may mount over the machine's own /tmp", skip=True
        )
    },
    "test_keys_of_the_hosts_session_are_out_of_reach": {"local-plain": NO_NAMESPACES},
    "test_memory_of_no_process_is_limited": {"local-plain": FILLS},
    "test_tmp_and_shm_are_no_larger_than_the_memory": {"local-plain": FILLS},
    "test_tmp_is_limited": {"local-plain": Difference("without bubblewrap only single files are limited")},
    "test_memory_limit_is_reported": dict.fromkeys(
        ("local-bwrap", "local-namespace", "local-plain"), OWN_ERROR
    ),
    "test_missing_working_folder_is_an_error": {
        "docker": Difference("the engine makes a working folder that does not exist"),
    },
    "test_mount_inside_a_writable_mount": {
        "local-plain": Difference("without bubblewrap it is refused with a SandboxError"),
    },
}
if not ROOT:
    TOGETHER = Difference(
        "without bubblewrap the kernel counts all of a user's processes together", skip=True
    )
    DIFFERENCES["test_threads_of_other_runs_do_not_count"] = {"local-plain": TOGETHER}
    DIFFERENCES["test_system_is_not_writable"] = {"local-plain": NO_NAMESPACES}
else:
    DIFFERENCES |= {
        "test_is_not_root": {"local-plain": ROOT_STAYS_ROOT},
        "test_system_is_not_writable": {"local-plain": ROOT_STAYS_ROOT},
        "test_number_of_processes_is_limited": {"local-namespace": UNCOUNTED, "local-plain": UNCOUNTED},
        "test_fork_bomb_ends": {"local-namespace": UNCOUNTED, "local-plain": UNCOUNTED},
    }

BACKENDS = (
    pytest.param("local-bwrap", marks=pytest.mark.bwrap),
    pytest.param("local-namespace", marks=pytest.mark.bwrap),
    pytest.param("local-plain"),
    pytest.param("docker", marks=pytest.mark.docker),
)


@pytest.fixture(scope="session")
def base_image() -> str:
    """The image that tests build on; without it there is nothing to test with."""
    found = subprocess.run(["docker", "image", "inspect", BASE_IMAGE], capture_output=True, check=False)
    if found.returncode != 0:
        message = f"needs the image {BASE_IMAGE}: scripts/make-base-image --with numpy"
        pytest.fail(message) if os.environ.get("LMR_REQUIRE_ALL") else pytest.skip(message)
    return BASE_IMAGE


@pytest.fixture(scope="session")
def docker_context(tmp_path_factory: pytest.TempPathFactory, base_image: str) -> Path:
    """A folder with the smallest Dockerfile."""
    folder = tmp_path_factory.mktemp("context")
    (folder / "Dockerfile").write_text(f"ARG BASE_IMAGE={base_image}\nFROM ${{BASE_IMAGE}}\n")
    return folder


@pytest.fixture(scope="session")
def without_setpriv(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which setpriv does not work: even root then isolates by a user namespace, as other users do."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "setpriv").write_text("#!/bin/sh\nexit 1\n")
    (folder / "setpriv").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture(scope="session")
def make(request: pytest.FixtureRequest) -> Callable[[str], Sandbox]:
    """Makes a new sandbox of a backend."""

    def made(backend: str) -> Sandbox:
        if backend == "docker":
            context = request.getfixturevalue("docker_context")
            return DockerSandbox(context, tag=TAG, build_args={})
        if backend == "local-namespace":
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("PATH", request.getfixturevalue("without_setpriv"))
                bubblewrap.tools.cache_clear()
                try:
                    return LocalSandbox()
                finally:
                    bubblewrap.tools.cache_clear()
        return LocalSandbox(use_bubblewrap=backend == "local-bwrap")

    return made


@pytest.fixture(scope="session")
def prepared(make: Callable[[str], Sandbox]) -> Iterator[Callable[[str], Sandbox]]:
    """A prepared sandbox of a backend, shared by the tests."""
    made: dict[str, Sandbox] = {}

    def get(backend: str) -> Sandbox:
        if backend not in made:
            made[backend] = make(backend)
            made[backend].prepare()
        return made[backend]

    yield get
    for sandbox in made.values():
        sandbox.close()
    if "docker" in made:
        subprocess.run(["docker", "rmi", "-f", TAG], capture_output=True, check=False)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """The name of a backend; tests that it is known not to pass are expected to fail with it."""
    name: str = request.param
    difference = DIFFERENCES.get(request.node.originalname, {}).get(name)
    if difference is not None:
        if difference.skip:
            pytest.xfail(difference.reason)  # running it would harm the machine that runs the tests
        request.applymarker(pytest.mark.xfail(reason=difference.reason, strict=True))
    return name


@pytest.fixture
def sandbox(backend: str, prepared: Callable[[str], Sandbox]) -> Sandbox:
    """A prepared sandbox."""
    return prepared(backend)


@pytest.fixture
def python(sandbox: Sandbox) -> Python:
    """Runs Python code with arguments in the sandbox. Paths are arguments, so that they can be rewritten."""

    def run(code: str, *arguments: str, **fields: Any) -> ExecResult:
        return sandbox.run(Command(("python", "-c", code, *arguments), **fields))

    return run


@pytest.fixture
def owner_script(tmp_path: Path, backend: str, request: pytest.FixtureRequest) -> list[str]:
    """The argv of another process that says "ready" and then runs a long command in a sandbox."""
    script = tmp_path / "owner.py"
    script.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "from lmr_author.runtime.sandbox.base import Command, Limits, Mount\n"
        "from lmr_author.runtime.sandbox.docker import DockerSandbox\n"
        "from lmr_author.runtime.sandbox.local import LocalSandbox\n"
        "backend, context, shared, seconds, code = sys.argv[1:]\n"
        "if backend == 'docker':\n"
        f"    box = DockerSandbox(Path(context), tag='{TAG}', build_args={{}})\n"
        "else:\n"
        "    box = LocalSandbox(use_bubblewrap=backend != 'local-plain')\n"
        "mounts = (Mount(Path(shared), '/shared', writable=True),)\n"
        "argv = ('python', '-c', code, '/shared/beat')\n"
        "with box:\n"
        "    box.prepare()\n"
        "    box.run(Command(argv, mounts, limits=Limits(seconds=float(seconds))))\n"
    )
    context = request.getfixturevalue("docker_context") if backend == "docker" else None
    owner = [sys.executable, str(script), backend, str(context)]
    if backend == "local-namespace":
        return ["/usr/bin/env", f"PATH={request.getfixturevalue('without_setpriv')}", *owner]
    return owner


@pytest.fixture
def tag() -> Iterator[str]:
    """A new image name; whatever has it is removed afterwards."""
    name = f"lmr-author/test-{uuid.uuid4().hex[:12]}"
    yield f"{name}:latest"
    subprocess.run(["docker", "rmi", "-f", f"{name}:latest"], capture_output=True, check=False)
    subprocess.run(["docker", "rmi", "-f", f"{name}:partial"], capture_output=True, check=False)


@pytest.fixture
def context(tmp_path: Path, base_image: str) -> Path:
    """A folder for a Dockerfile."""
    folder = tmp_path / "context"
    folder.mkdir()
    write(folder, base_image, "")
    return folder

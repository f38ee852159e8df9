"""A clone that hangs, is interrupted, or has a source that is not whole."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.repo import CloneOptions, clone
from tests.gitrepos import commit, git, tree
from tests.repo.cloning import refused


def test_a_silent_server_is_given_up(tmp_path: Path) -> None:
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/a/b"
        with pytest.raises(LmrError, match="took longer than"):
            clone(url, None, tmp_path / "code", CloneOptions(seconds=1))
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_clone_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    import _thread
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/interrupted-{os.getpid()}"

        def interrupt() -> None:
            connection, _ = server.accept()
            time.sleep(0.1)
            _thread.interrupt_main()
            connection.close()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            clone(url, None, tmp_path / "code")
        thread.join()
    assert list(tmp_path.iterdir()) == []
    assert url not in _command_lines()


def _command_lines() -> str:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return "\n".join(lines)


def test_a_shallow_source_is_cloned(source: Path, tmp_path: Path) -> None:
    last = commit(source, {"train.py": "x = 2\n"})
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{source}", str(tmp_path / "shallow"))
    found = clone(f"file://{tmp_path / 'shallow'}", None, tmp_path / "code", CloneOptions(seconds=60))
    assert (found.commit, tree(found.folder)) == (last, ["LICENSE", "train.py"])


def test_a_source_that_lacks_files_is_refused_and_fetches_nothing(source: Path, tmp_path: Path) -> None:
    """Asked for what it lacks, git would go to the place that the source names: here, back to itself."""
    git(source, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    options = ("--quiet", "--no-checkout", "--filter=blob:none")
    git(tmp_path, "clone", *options, f"file://{source}", str(partial))
    git(partial, "remote", "set-url", "origin", f"file://{partial}")
    error = refused(f"file://{partial}", tmp_path / "code", seconds=60)
    assert "git clone" in error.message

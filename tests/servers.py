"""Small HTTP servers on the loopback address: pages with given answers, and a package index."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@dataclass
class Answer:
    """What a server says to one path."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    after: float = 0.0
    """Seconds before it says anything."""
    on_asked: Callable[[], object] = lambda: None
    """Called, in the server's thread, when somebody asks."""


@contextmanager
def serve(answers: dict[str, Answer]) -> Iterator[str]:
    """A server; yields its address, ``http://127.0.0.1:PORT``. The query is not looked at."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers.get(self.path.partition("?")[0], Answer(b"nothing here", 404))
            answer.on_asked()
            time.sleep(answer.after)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            try:
                self.end_headers()
                self.wfile.write(answer.body)
            except (BrokenPipeError, ConnectionResetError):
                pass

        do_HEAD = do_GET

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Release:
    """One version of a package on the index: when it was uploaded ("" for an index that does not say).

    With ``tags`` (``cp311-cp311``) it is compiled, and has a wheel for each; else one for every Python. Without a
    ``wheel`` it has a source, which cannot be downloaded unless it is ``readable``: it then says what it needs.
    """

    version: str
    uploaded: str
    requires: tuple[str, ...] = ()
    wheel: bool = True
    tags: tuple[str, ...] = ()
    readable: bool = False


@contextmanager
def package_index(packages: Mapping[str, list[Release]]) -> Iterator[str]:
    """A package index (PEP 691 and 658): names, upload dates and metadata; no wheel can be downloaded."""
    answers: dict[str, Answer] = {}
    for name, releases in packages.items():
        listed = []
        for release in releases:
            stem = f"{name.replace('-', '_')}-{release.version}"
            lines = ["Metadata-Version: 2.2", f"Name: {name}", f"Version: {release.version}"]
            lines += [f"Requires-Dist: {item}" for item in release.requires]
            metadata = "\n".join(lines).encode() + b"\n"
            for file in _files(stem, release):
                answers[f"/files/{file}.metadata"] = Answer(metadata)
                content = _source(stem, metadata) if release.readable else file.encode()
                if release.readable:
                    answers[f"/files/{file}"] = Answer(content)
                entry = {
                    "filename": file,
                    "url": f"/files/{file}",
                    "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
                    "core-metadata": release.wheel,
                }
                if release.uploaded:
                    entry["upload-time"] = f"{release.uploaded}T12:00:00Z"
                listed.append(entry)
        page = {"meta": {"api-version": "1.1"}, "name": name, "files": listed}
        kind = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
        answers[f"/simple/{name}/"] = Answer(json.dumps(page).encode(), headers=kind)
    with serve(answers) as address:
        yield f"{address}/simple"


def _files(stem: str, release: Release) -> list[str]:
    if not release.wheel:
        return [f"{stem}.tar.gz"]
    return [f"{stem}-{tag}-manylinux2014_x86_64.whl" for tag in release.tags] or [f"{stem}-py3-none-any.whl"]


def _source(stem: str, metadata: bytes) -> bytes:
    """A source distribution whose metadata hold for every build of it (PEP 643)."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in (("PKG-INFO", metadata), ("pyproject.toml", b"")):
            member = tarfile.TarInfo(f"{stem}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@contextmanager
def only_index(
    packages: Mapping[str, list[Release]], monkeypatch: pytest.MonkeyPatch, cache: Path
) -> Iterator[None]:
    """:func:`package_index` as the only one that uv knows, with a cache of its own."""
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX_URL", "UV_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(cache))
    with package_index(packages) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", address)
        yield

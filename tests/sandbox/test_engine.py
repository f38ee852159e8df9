"""An engine that answers late, or not at all: a small HTTP server in its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lmr_author.core.errors import SandboxError
from lmr_author.runtime.sandbox import docker_engine
from lmr_author.runtime.sandbox.docker_engine import ANSWER_SECONDS, connect, engine_errors
from tests.servers import Answer, serve

API = "/v1.41"
JSON = {"Content-Type": "application/json"}


@contextmanager
def slow_engine(monkeypatch: pytest.MonkeyPatch, *, greeting: float, answer: float) -> Iterator[None]:
    """An engine that has one image, of 7 bytes, and takes so many seconds to greet and to answer."""
    version = {"ApiVersion": API.strip("/v"), "Version": "1"}
    answers = {
        "/version": Answer(json.dumps(version).encode(), headers=JSON, after=greeting),
        f"{API}/_ping": Answer(b"OK"),
        f"{API}/images/some/json": Answer(b'{"Size": 7}', headers=JSON, after=answer),
    }
    with serve(answers) as address:
        monkeypatch.setenv("DOCKER_HOST", address.replace("http:", "tcp:"))
        monkeypatch.delenv("DOCKER_TLS_VERIFY", raising=False)
        yield


def test_an_engine_that_hangs_at_once_is_told_from_one_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker_engine, "GREETING_SECONDS", 0.2)
    hangs = slow_engine(monkeypatch, greeting=1.0, answer=0)
    with hangs, pytest.raises(SandboxError, match="did not answer") as caught:
        connect()
    assert "overloaded" in caught.value.hint
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    with pytest.raises(SandboxError, match="not installed or not running") as caught:
        connect()
    assert "--sandbox local" in caught.value.hint


def test_a_call_may_take_longer_than_the_greeting_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_engine, "GREETING_SECONDS", 0.3)
    for limit in (ANSWER_SECONDS, 0.5):
        monkeypatch.setattr(docker_engine, "ANSWER_SECONDS", limit)
        with slow_engine(monkeypatch, greeting=0, answer=1.0):
            client = connect()
            if limit == ANSWER_SECONDS:
                assert client.images.get("some").attrs["Size"] == 7
            else:
                with pytest.raises(SandboxError, match="did not answer for"), engine_errors():
                    client.images.get("some")
            client.close()

"""An engine that answers late, or not at all: a small HTTP server in its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lmr_author.errors import SandboxError
from lmr_author.sandbox import docker_engine
from lmr_author.sandbox.docker_disk import image_bytes
from lmr_author.sandbox.docker_engine import ANSWER_SECONDS, GREETING_SECONDS, connect, engine_errors
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


def test_a_call_may_take_longer_than_the_greeting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_engine, "GREETING_SECONDS", 0.5)
    with slow_engine(monkeypatch, greeting=0, answer=1.0):
        client = connect()
        assert image_bytes(client, "some") == 7
        client.close()
    assert GREETING_SECONDS < 60 < ANSWER_SECONDS, "the SDK's own limit is too short for some calls"


def test_an_engine_that_hangs_at_once_is_told_from_one_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_engine, "GREETING_SECONDS", 0.2)
    hangs = slow_engine(monkeypatch, greeting=1.0, answer=0)
    with hangs, pytest.raises(SandboxError, match="does not answer") as caught:
        connect()
    assert "overloaded" in caught.value.hint


def test_an_engine_that_hangs_later_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_engine, "ANSWER_SECONDS", 0.3)
    with slow_engine(monkeypatch, greeting=0, answer=1.0):
        client = connect()
        with pytest.raises(SandboxError, match="did not answer for") as caught, engine_errors():
            image_bytes(client, "some")
        client.close()
    assert "run the command again" in caught.value.hint

"""Asking a public service one question: bounded in time and size, and never the end of the command."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lmr_author.texts import printable

SECONDS = 15.0
"""An answer may take this long in all."""
MOST_BYTES = 2 * 1024 * 1024
"""An answer larger than this is not read."""


class Unavailable(Exception):
    """A source that gave no answer: why, for a person."""


class Unknown(Unavailable):
    """A source that answered, and does not have what it was asked for."""


@dataclass(frozen=True)
class Reply:
    """An answer: its body, and its headers with lower-case names."""

    body: bytes
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> dict[str, Any]:
        """The body as a JSON object. Raises Unavailable when it is none."""
        try:
            data = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise Unavailable("the answer is not JSON") from error
        if not isinstance(data, dict):
            raise Unavailable("the answer is not a JSON object")
        return data


def get(url: str, *, accept: str = "*/*", seconds: float = SECONDS) -> Reply:
    """Fetch a page. Raises Unavailable for everything that can go wrong, with what it was."""
    import httpx

    ends = time.monotonic() + seconds
    headers = {"Accept": accept, "User-Agent": "lmr-author"}
    limits = httpx.Timeout(seconds, connect=min(seconds, 10.0))
    try:
        with (
            httpx.Client(follow_redirects=True, max_redirects=5, timeout=limits, headers=headers) as client,
            client.stream("GET", url) as response,
        ):
            _require_answer(response)
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise Unavailable(f"its answer is larger than {MOST_BYTES // 2**20} MiB")
                if time.monotonic() > ends:
                    raise Unavailable(f"no whole answer within {seconds:g} s")
            return Reply(bytes(body), dict(response.headers))
    except httpx.TimeoutException as error:
        raise Unavailable(f"no answer within {seconds:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unavailable(
            f"cannot be reached ({printable(str(error) or type(error).__name__, 120)})"
        ) from error


def _require_answer(response: Any) -> None:
    if not response.is_error:
        return
    code = response.status_code
    if code == 429 or response.headers.get("x-ratelimit-remaining") == "0":
        raise Unavailable(f"rate limit reached{_until(response.headers)}")
    if code == 404:
        raise Unknown("it does not know this (404)")
    raise Unavailable(f"it answers {code} {printable(response.reason_phrase, 60)}".rstrip())


def _until(headers: Mapping[str, str]) -> str:
    """When a rate limit ends, as far as the headers tell."""
    try:
        if "x-ratelimit-reset" in headers:
            moment = datetime.fromtimestamp(int(headers["x-ratelimit-reset"]), UTC)
            return f"; again at {moment:%H:%M} UTC"
        if "retry-after" in headers:
            return f"; again in {int(headers['retry-after'])} s"
    except (ValueError, OverflowError, OSError):
        pass
    return ""

"""A server that speaks OpenAI's chat completions, behind which somebody answers: a script, or a person."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = dict[str, Any]
"""``text``, ``calls`` (pairs of a tool and its arguments), ``tokens``; or ``status`` of an error, ``refused``."""


@contextmanager
def served(answer: Callable[[dict[str, Any]], Reply], port: int = 0) -> Iterator[str]:
    """Serve while the block runs; yield the address.

    Args:
        answer: makes the reply to a request.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reply = answer(json.loads(body))
            status = reply.get("status", 200)
            data = json.dumps(_completion(reply) if status == 200 else {"error": {"message": "no"}}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _completion(reply: Reply) -> dict[str, Any]:
    calls = [
        {
            "id": f"call-{number}-{threading.get_ident()}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(reply.get("calls", ()))
    ]
    message: dict[str, Any] = {"role": "assistant", "content": reply.get("text", "")}
    if calls:
        message["tool_calls"] = calls
    tokens = reply.get("tokens", 1000)
    reason = "content_filter" if reply.get("refused") else "tool_calls" if calls else "stop"
    return {
        "id": "chat",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": tokens - 100, "completion_tokens": 100, "total_tokens": tokens},
    }

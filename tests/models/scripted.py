"""Scripted models: what a model says, written beforehand. Inspect runs in a process of its own, as for a user.

    python -m tests.models.scripted '{"task": "prompting", "arguments": {…}, "model": {"word of a prompt": "reply"}}'

A model is replies by a word of the last message (``{"raise": NAME}`` is a client's error), or a list of calls that an
agent makes before it submits.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, read_eval_log

from tests.cli import forked
from tests.cli.program import Ended

ROOT = Path(__file__).parents[2]
Script = Mapping[str, str | Mapping[str, str]] | Sequence[tuple[str, Mapping[str, Any]]] | None
"""None is a model that is never asked."""


def run(
    task: str,
    folder: Path,
    model: Script,
    arguments: Mapping[str, Any],
    grader: Script = None,
    **options: Any,
) -> EvalLog:
    """Run a task of ours; its log lies in ``folder/logs``."""
    order = {"task": task, "arguments": arguments, "model": model, "grader": grader, "options": options}
    done = inspect_process(folder, "tests.models.scripted", json.dumps(order))
    assert done.code == 0, done.out + done.err
    log = read_eval_log(done.out.strip().splitlines()[-1])
    assert log.status == "success", log.error and log.error.message
    return log


def inspect_process(folder: Path, module: str, *arguments: str) -> Ended:
    """Run a module in a process forked from one that has Inspect; everything that it keeps is below a folder."""
    places = {"XDG_DATA_HOME": str(folder / "data"), "INSPECT_LOG_DIR": str(folder / "logs")}
    environment = {**os.environ, **places, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as written:
        files = [Path(written) / name for name in ("out", "err")]
        process = forked._context().Process(
            target=_as_module, args=(folder, environment, files, module, arguments)
        )
        process.start()
        process.join()
        out, err = (path.read_text() for path in files)
    return Ended(process.exitcode, out, err)


def _as_module(
    folder: Path, environment: dict[str, str], files: list[Path], module: str, arguments: Sequence[str]
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None  # TMPDIR is read anew
    for descriptor, path in enumerate(files, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except Exception:
        sys.excepthook(*sys.exc_info())
        sys.exit(1)
    finally:
        atexit._run_exitfuncs()


def samples(log: EvalLog) -> dict[str, EvalSample]:
    """The samples of a log by their ids."""
    return {str(sample.id): sample for sample in log.samples or []}


def main(order: dict[str, Any]) -> None:
    """Run an order, and print the place of the log."""
    from inspect_ai import eval as inspect_eval
    from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model

    def scripted(script: Any, name: str) -> Model | str:
        def say(messages: list[ChatMessage], *_: Any) -> ModelOutput:
            if isinstance(script, dict):
                reply = next(reply for word, reply in script.items() if word in messages[-1].text)
                if isinstance(reply, dict) and "raise" in reply:
                    raise type(reply["raise"], (Exception,), {})("as scripted")
                given = reply if isinstance(reply, dict) else {"content": reply}
                output = ModelOutput.from_content(name, **given)
            else:
                number = sum(message.role == "assistant" for message in messages)
                calls = [*script, ("submit", {"answer": "done"})]
                output = ModelOutput.for_tool_call(name, *calls[min(number, len(calls) - 1)])
            # Without it Inspect counts tokens, with a tokenizer that it downloads.
            output.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
            return output

        return "none" if script is None else get_model(f"mockllm/{name}", custom_outputs=say)

    if engine := os.environ.get("LMR_TEST_ENGINE"):
        # Debian 12's engine is older than Inspect asks for, and does all that these tests need.
        from inspect_ai.util._sandbox.docker import prereqs

        prereqs.DOCKER_ENGINE_REQUIRED_VERSION = engine
        prereqs.validate_docker_engine.__defaults__ = (engine,)
    grader = {"grader": scripted(order["grader"], "grader")} if order["grader"] else None
    [log] = inspect_eval(
        f"lmr_author/{order['task']}",
        task_args=order["arguments"],
        model=scripted(order["model"], "scripted"),
        model_roles=grader,
        display="none",
        **order["options"],
    )
    print(log.location)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

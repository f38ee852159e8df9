"""All that the grader needs of lmr-author's probe: replay recorded inputs, compare outcomes with the expected ones.

The replayer runs as another user and sees inputs only. Its output is parsed here, as data; nothing in it is run.
"""

import ast
import json
import os
import shutil

from lmr_probe.checking import from_bytes, load, read_frames
from lmr_probe.compare import compare
from lmr_probe.instrument import TargetNotFound, def_line, find

PLACE = "/lmr"
STDERR = None


def command(plan):
    return ["python", "-m", "lmr_probe", "replay", PLACE + "/job/request.json"]


def environment(plan):
    return {"PYTHONPATH": PLACE, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def names(plan):
    return list(plan["cases"])


def lay_out(tests, plan, user):
    """Copy replayer and inputs, and no expected outputs, to where any user can read them. Returns the folder."""
    shutil.rmtree(PLACE, ignore_errors=True)
    os.mkdir(PLACE)
    for name in ("job", "lmr_probe"):
        shutil.copytree(os.path.join(tests, name), os.path.join(PLACE, name))
    for folder, _, names in os.walk(PLACE):
        os.chmod(folder, 0o755)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o644)
    return PLACE


def point_at(place, data, plan):
    """Select one of several definitions with the same name: lines have moved in the agent's file."""
    if not plan["nth"]:
        return
    path = os.path.join(place, "job", "request.json")
    with open(path, encoding="utf-8") as file:
        request = json.load(file)
    try:
        request["line"] = def_line(find(ast.parse(data), plan["qualname"], nth=plan["nth"])[-1])
    except (SyntaxError, ValueError, RecursionError, MemoryError, TargetNotFound):
        return  # the replay fails for the same reason, and says why
    with open(path, "w", encoding="utf-8") as file:
        json.dump(request, file)


def differences(tests, output, plan, code):
    """Compare what the replayer wrote with the recording; the first difference of each case that differs."""
    with open(output, "rb") as file:
        frames = read_frames(file.read())
    outcomes = {}
    for frame in frames:
        if frame.header.get("kind") == "case" and isinstance(frame.header.get("case"), str):
            outcomes.setdefault(frame.header["case"], frame)
    found = {}
    for name, rules in plan["cases"].items():
        expected = load(os.path.join(tests, "expected", name), "expected")
        try:
            problems = _problems(expected, outcomes.get(name), rules)
        except Exception as error:  # the agent's process chose these bytes
            problems = ["%s: %s" % (type(error).__name__, error)]
        if problems:
            found[name] = problems[0]
    return found


def _problems(expected, frame, rules):
    """Return how one outcome differs from the expected one: [] when it does not."""
    if frame is None:
        return ["the run ended before this case"]
    error = frame.header.get("error")
    raised = "%s: %s" % (error.get("type"), error.get("message")) if isinstance(error, dict) and error else ""
    if not frame.payload:
        return [raised or str(frame.header.get("status"))]
    actual = from_bytes(frame.payload)
    found = [str(item) for item in compare(expected, actual, rules)]
    return ["raised " + raised, *found] if found and raised else found

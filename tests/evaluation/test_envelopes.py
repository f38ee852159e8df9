"""Replies in what models and harnesses wrap code in: judged as they were meant, or refused."""

from __future__ import annotations

import difflib
import html
import json
import re
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from lmr_author.proof.evaluation.candidates.fitting import fit
from lmr_author.proof.evaluation.candidates.reply import InvalidAnswer
from tests.evaluation.test_replies import (
    GOAL,
    PATH,
    Subject,
    find_function,
    lines_of,
    problem,
    split,
    subject_of,
)

METHOD = "Meter.add"
PROSE = (
    "The loss is the hinge of the gap between the margin and the score, as equation (3) of the paper has it. "
    * 20
)
OTHER = "def hinge(x, margin=1.0):\n    return 7\n"
EDITOR = "str_replace_based_edit_tool"
Text = Callable[[Subject], str]


def fence(code: str, label: str = "python") -> str:
    return f"```{label}\n{code}\n```"


def as_json(**fields: object) -> str:
    return json.dumps(fields)


def stub(s: Subject) -> str:
    return lines_of(s.masked, find_function(s.masked, s.qualname))


def method(s: Subject) -> str:
    return textwrap.indent(s.final, s.indent)


def body(s: Subject, code: str = "") -> str:
    return textwrap.indent(split(code or s.final)[1], s.indent + "    ")


def last(code: str) -> str:
    return code.split("\n")[-1]


def header(s: Subject, text: str) -> str:
    return f"{text}\n{textwrap.indent(split(s.final)[1], '    ')}"


def headed(text: str) -> Text:
    """The function below another signature, in a fence."""
    return lambda s: fence(header(s, text))


def edited(path: str, old: str, new: str) -> str:
    """A search/replace block below the path of its file."""
    return f"{path}\n{fence(f'<<<<<<< SEARCH{chr(10)}{old}{chr(10)}======={chr(10)}{new}{chr(10)}>>>>>>> REPLACE')}\n\n"


def patch(s: Subject) -> str:
    lines = "\n".join(f"+{line}" for line in body(s).split("\n"))
    old = f"@@ {s.function}\n-    {s.indent}raise NotImplementedError"
    return f"*** Begin Patch\n*** Update File: {PATH}\n{old}\n{lines}\n*** End Patch"


def diff(s: Subject) -> str:
    before, after = s.masked.splitlines(), s.in_file(s.final).splitlines()
    return "\n".join(difflib.unified_diff(before, after, PATH, PATH, lineterm=""))


def asked(*calls: tuple[str, dict[str, Any] | str]) -> str:
    """A message with tool calls as OpenAI's clients have it."""
    functions = [{"name": name, "arguments": json.dumps(given)} for name, given in calls]
    listed = [{"id": "1", "type": "function", "function": function} for function in functions]
    return as_json(role="assistant", content=None, tool_calls=listed)


def used(*inputs: dict[str, Any], name: str = EDITOR) -> str:
    """Blocks of a message with tool calls as Anthropic's clients have it."""
    blocks = [
        {"type": "tool_use", "id": "1", "name": name, "input": {"path": f"/work/repo/{PATH}", **given}}
        for given in inputs
    ]
    return json.dumps([{"type": "text", "text": "I edit the file."}, *blocks])


def replaced(old: str, new: str) -> dict[str, str]:
    return {"command": "str_replace", "old_str": old, "new_str": new}


def marked(code: str, mark: Callable[[int, str], str]) -> str:
    return "\n".join(mark(number, line) for number, line in enumerate(code.split("\n"), 8))


def prompted(code: str) -> str:
    first, *rest = code.split("\n")
    return "\n".join([f">>> {first}", *(f"... {line}" for line in rest), "... ", ">>> hinge(2)", "0.0"])


def cell(code: str) -> str:
    first, *rest = code.split("\n")
    return "\n".join([f"In [3]: {first}", *(f"   ...: {line}" for line in rest), "", "Out[3]: 0.0"])


def halves(code: str, at: int) -> str:
    lines = code.split("\n")
    return f"{fence(chr(10).join(lines[:at]))}\nand then\n{fence(chr(10).join(lines[at:]))}"


JUDGED: dict[str, Text] = {
    # JSON
    "explanation longer than the code": lambda s: as_json(explanation=PROSE, code=s.final),
    "JSON in a fence with prose around": lambda s: (
        f"So:\n{fence(as_json(explanation=PROSE, code=s.final), 'json')}\nDone."
    ),
    "JSON behind a word": lambda s: "Answer: " + as_json(code=s.final),
    "JSON before prose": lambda s: as_json(answer=s.final) + "\n\nI hope this helps!",
    "nested JSON": lambda s: as_json(status="ok", result={"implementation": s.final, "notes": PROSE}),
    "body in JSON": lambda s: as_json(analysis=PROSE, solution=split(s.final)[1], complexity="O(n)"),
    "fence in JSON": lambda s: as_json(role="assistant", content=f"Here:\n{fence(s.final)}\n{PROSE}"),
    "lines in JSON": lambda s: as_json(code=s.final.split("\n")),
    "line ends in JSON's strings": lambda s: '{"code": "' + s.final.replace('"', '\\"') + '"}',
    "JSON lines": lambda s: "\n".join(as_json(code=code) for code in (s.draft, s.final)),
    "chat as JSON lines": lambda s: "\n".join(
        as_json(role=role, content=fence(code))
        for role, code in (("assistant", s.draft), ("assistant", s.final), ("user", s.draft))
    ),
    "draft in the reasoning": lambda s: as_json(code=s.final, reasoning=fence(s.draft)),
    "chat completion": lambda s: as_json(
        choices=[{"message": {"reasoning_content": fence(s.draft), "content": fence(s.final)}}]
    ),
    "files in JSON": lambda s: as_json(
        files=[{"path": PATH, "content": s.in_file(s.final)}, {"path": "tests/test_it.py", "content": OTHER}]
    ),
    "paths as keys": lambda s: json.dumps({PATH: s.in_file(s.final), "pkg/old.py": OTHER}),
    "notebook": lambda s: as_json(
        cells=[
            {"cell_type": "markdown", "source": [PROSE]},
            {"cell_type": "code", "source": s.final.splitlines(keepends=True)},
        ]
    ),
    "JSON after the code": lambda s: f"{fence(s.final)}\n{fence(as_json(result=[0.1]), 'json')}",
    "JSON in the code": lambda s: (
        "So:\n\n"
        + s.final.replace(
            '"""\n', '"""\n    known = {\n        "code": "def hinge(x):\\n    return 7",\n    }\n', 1
        )
    ),
    # calls of tools
    "call that submits code": lambda s: asked(("submit", {"explanation": PROSE, "code": s.final})),
    "call that writes files": lambda s: asked(
        ("write_file", {"path": PATH, "content": s.in_file(s.final)}),
        ("write_file", {"path": "t.py", "content": OTHER}),
    ),
    "call of apply_patch": lambda s: asked(("apply_patch", {"input": patch(s)})),
    "create": lambda s: used({"command": "create", "file_text": s.in_file(s.final)}),
    "str_replace": lambda s: used({"command": "view"}, replaced(stub(s), s.final)),
    "str_replace twice, the second time less than lines": lambda s: used(
        replaced(stub(s), s.draft),
        replaced(f"{last(s.draft).strip()}\n\n\nclass Me", f"{last(s.final).strip()}\n\n\nclass Me"),
    ),
    "insert": lambda s: used(
        {
            "command": "insert",
            "insert_line": s.masked.split("\n").index(stub(s).split("\n")[1]) + 1,
            "insert_text": body(s) + "\n",
        }
    ),
    "several edits in a call": lambda s: used(
        {
            "edits": [
                {"old_string": "SCALE = 2.0", "new_string": "SCALE = 3.0"},
                {"old_string": stub(s), "new_string": s.final},
            ]
        },
        name="MultiEdit",
    ),
    "create, then a test": lambda s: json.dumps(
        [
            *json.loads(used({"command": "create", "file_text": s.in_file(s.final)})),
            {
                "type": "tool_use",
                "name": "bash",
                "input": {"command": "python -c 'from pkg.losses import hinge\nx = hinge(2)'"},
            },
        ]
    ),
    "call in tags with JSON": lambda s: (
        "<tool_call>\n"
        + as_json(name="edit", arguments={"path": PATH, **replaced(stub(s), s.final)})
        + "\n</tool_call>"
    ),
    "call in tags": lambda s: (
        f"{fence(s.draft)}\n<function=edit>\n<parameter=path>{PATH}</parameter>\n<parameter=old_str>\n{last(s.draft)}\n</parameter>\n<parameter=new_str>\n{last(s.final)}\n</parameter>\n</function>"
    ),
    "here-document": lambda s: fence(f"cat > {PATH} <<'EOF'\n{s.in_file(s.final)}EOF", "bash"),
    "apply_patch in the shell": lambda s: fence(f"apply_patch <<'EOF'\n{patch(s)}\nEOF", "bash"),
    # several files
    "empty search of a new file": lambda s: (
        edited(PATH, stub(s), s.final)
        + f"\n\ntests/test_it.py\n<<<<<<< SEARCH\n=======\n{OTHER}>>>>>>> REPLACE"
    ),
    "edits of two files": lambda s: (
        edited("pkg/old.py", "    raise NotImplementedError", "    return 7")
        + edited(f"**`{PATH}`**:", stub(s), s.final)
    ),
    "files under headings": lambda s: (
        f"### {PATH}\n\n{fence(s.in_file(s.final))}\n\n### tests/test_it.py\n\n{fence(OTHER)}"
    ),
    "files named in labels": lambda s: (
        f"{fence(s.in_file(s.final), f'python:{PATH}')}\n{fence(OTHER, 'python:pkg/simple.py')}"
    ),
    "files named in comments": lambda s: (
        f"{fence(f'# {PATH}{chr(10)}{s.in_file(s.final)}')}\n{fence(f'# pkg/simple.py{chr(10)}{OTHER}')}"
    ),
    "file with a name that was made up": lambda s: f"`solution.py`\n{fence(s.final)}",
    "diff, escaped": lambda s: html.escape(diff(s), quote=False),
    # marks
    "block quote": lambda s: marked(f"Here:\n{fence(s.final)}", lambda _, line: f"> {line}".rstrip()),
    "line numbers with a bar": lambda s: fence(marked(s.final, lambda number, line: f"{number:3d} | {line}")),
    "line numbers with a colon": lambda s: fence(marked(s.final, lambda number, line: f"{number}: {line}")),
    "cat -n": lambda s: "Now:\n" + marked(s.final, lambda number, line: f"{number:6d}\t{line}"),
    "entities": lambda s: f'<pre><code class="language-python">{html.escape(s.final)}</code></pre>',
    "entity that is Python by accident": headed("def hinge(x, margin=1.0):\n    flag = 1 &lt; 2"),
    "entities in a string": headed("def hinge(x, margin=1.0):\n    assert len('&lt;') == 4"),
    "prompts": lambda s: fence(prompted(s.final)),
    "cell of a notebook": lambda s: fence(cell(s.final)),
    "two fences, the first without a return": lambda s: halves(s.final, -1),
    "two fences, the first not Python": lambda s: halves(
        s.final.replace("    gap =", "    if True:\n        pass\n    gap ="), 3
    ),
    "invisible characters": lambda s: fence(
        "\u200b" + s.final.replace("    gap", "\u00a0\u00a0\u00a0\u00a0gap")
    ),
    "non-breaking spaces, bare": lambda s: "So:\n\n" + s.final.replace("    ", "\u00a0\u00a0\u00a0\u00a0"),
    "non-breaking space in a string": headed(
        "def hinge(x, margin=1.0):\n    assert len('a\u00a0\u200b') == 3"
    ),
    "typographic quotes": headed("def hinge(x, margin=1.0):\n    kind = \u201cmean\u201d"),
    "Windows line ends": lambda s: fence(s.final).replace("\n", "\r\n"),
    # thoughts
    "channels": lambda s: (
        f"<|channel|>analysis<|message|>{fence(s.draft)}<|end|><|start|>assistant<|channel|>final<|message|>{fence(s.final)}"
    ),
    "analysis after the final channel": lambda s: (
        f"<|channel|>final<|message|>{fence(s.final)}<|end|><|start|>assistant<|channel|>analysis<|message|>{fence(s.draft)}"
    ),
    "thoughts in brackets": lambda s: f"{fence(s.final)}\n[THINK]or\n{fence(s.draft)}\n[/THINK]",
    "thoughts in other tags": lambda s: (
        f"◁think▷\n{s.draft}\n◁/think▷\n<seed:think>\n{s.draft}\n</seed:think>\n<answer>\n{s.final}\n</answer>"
    ),
    # signatures
    "parameter with a default": headed(
        "def hinge(x, margin=1.0, reduction='mean'):\n    assert reduction == 'mean'"
    ),
    "keyword with a constant": lambda s: fence(
        "ONE = 1.0\n\n\n"
        + header(
            s, "def hinge(x, margin=1.0, *, weight=ONE, **more):\n    margin = margin * weight + len(more)"
        )
    ),
    "a lambda as default": headed(
        "def hinge(x, margin=1.0, scale=lambda v, by=1: v * by):\n    margin = scale(margin)"
    ),
    "made keyword-only": headed("def hinge(x, *, margin=1.0):"),
}
METHODS: dict[str, Text] = {
    "JSON": lambda s: as_json(thoughts=PROSE, answer=method(s)),
    "str_replace of the body": lambda s: used(
        replaced(
            f'"""Add a value."""\n{s.indent}    raise NotImplementedError', f'"""Add a value."""\n{body(s)}'
        )
    ),
    "apply_patch": patch,
    "block quote": lambda s: "So:\n\n" + marked(method(s), lambda _, line: f"> {line}"),
    "cat -n of the file": lambda s: fence(
        marked(s.in_file(s.final), lambda number, line: f"{number:6d}\t{line}")
    ),
    "several edits of one path": lambda s: (
        edited(PATH, stub(s), textwrap.indent(s.draft, "    "))
        + edited("", f"    {last(s.draft)}", f"    {last(s.final)}")
    ),
    "CDATA": lambda s: f"<response><code><![CDATA[\n{method(s)}\n]]></code></response>",
    "two fences": lambda s: halves(method(s), -1),
    "tabs": lambda s: fence(method(s).replace("    ", "\t")),
}
INVALID: dict[str, tuple[str, Text]] = {
    "refusal": ("no Python code; it begins with \"I'm unable", lambda s: "I'm unable to see the paper."),
    "refusal in JSON": ("no Python code", lambda s: as_json(code=None, error="no equation")),
    "JSON cut off": ("not Python|no Python", lambda s: fence(as_json(code=s.final)[:-30], "json")),
    "another language": (
        "a fence of julia",
        lambda s: fence("function hinge(x)\n  x = 1\n  return x\nend", "julia"),
    ),
    "call alone": (
        "does not define hinge",
        lambda s: fence("from pkg.losses import hinge\n\nassert hinge(2) == 0"),
    ),
    "N/A": ("does not define hinge", lambda s: "N/A"),
    "lambda": (
        "does not define hinge",
        lambda s: fence("hinge = lambda x, margin=1.0: max(margin - x, 0.0)"),
    ),
    "shell alone": (
        "but a call of bash",
        lambda s: used({"path": "", "command": "grep -rn hinge ."}, name="bash"),
    ),
    "tool writes another file": (
        "changes pkg/util.py, not",
        lambda s: asked(("write", {"path": "pkg/util.py", "content": s.final})),
    ),
    "edit of another file": ("changes pkg/util.py, not", lambda s: edited("pkg/util.py", stub(s), s.final)),
    "str_replace that does not fit": (
        "an edit does not apply",
        lambda s: used(
            {"command": "create", "file_text": s.in_file(s.final)},
            replaced("    return nothing", "    return 7"),
        ),
    ),
    "insertion behind the end": (
        "an edit does not apply",
        lambda s: used({"command": "insert", "insert_line": 900, "insert_text": body(s)}),
    ),
    "undo": (
        "unsupported command: 'undo_edit'",
        lambda s: used(replaced(stub(s), s.final), {"command": "undo_edit"}),
    ),
    "sed": (
        "unsupported command: 'sed -i",
        lambda s: f"{fence(s.final)}\n{fence(f'sed -i s/a/b/ {PATH}', 'bash')}",
    ),
    "sed in a call": (
        "unsupported command: 'cd /w && sed -i",
        lambda s: json.dumps(
            [
                *json.loads(used(replaced(stub(s), s.final))),
                {"name": "bash", "input": {"command": f"cd /w && sed -i s/x/y/ {PATH}"}},
            ]
        ),
    ),
    "conflict": (
        "an edit does not apply",
        lambda s: fence(
            s.in_file(
                s.final.replace(
                    last(s.final), f"<<<<<<< HEAD\n{last(s.draft)}\n=======\n{last(s.final)}\n>>>>>>> fix"
                )
            )
        ),
    ),
    "parameters renamed": (
        r"signature of hinge: \(score, margin=1.0\) instead of \(x, margin=1.0\)",
        lambda s: fence(header(s, "def hinge(score, margin=1.0):").replace("- x", "- score")),
    ),
    "parameter removed": ("changes the signature", headed("def hinge(x):\n    margin = 1.0")),
    "order changed": ("changes the signature", headed("def hinge(margin, x):")),
    "parameter in between": ("changes the signature", headed("def hinge(x, eps=0, margin=1.0):")),
    "parameter without a default": ("changes the signature", headed("def hinge(x, margin, scale):")),
    "star arguments": ("changes the signature", headed("def hinge(*args, **kwargs):\n    x, margin = args")),
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_function_is_judged_as_it_was_meant(name: str) -> None:
    assert not problem({"text": JUDGED[name]})


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_judged_as_it_was_meant(name: str) -> None:
    assert not problem({"text": METHODS[name], "target": METHOD})


@pytest.mark.parametrize("name", INVALID)
def test_what_is_not_understood_is_invalid_and_says_what_was_seen(name: str) -> None:
    said, text = INVALID[name]
    assert not problem({"text": text, "must": "invalid"})
    subject = subject_of("hinge", is_right=True)
    with pytest.raises(InvalidAnswer, match=said):
        fit(text(subject), subject.slot)


def test_a_changed_signature_is_named() -> None:
    subject = subject_of("hinge", is_right=True)
    found = fit(JUDGED["keyword with a constant"](subject), subject.slot)
    assert {f"adds the parameter {name} to hinge" for name in ("weight", "more")} <= set(found.dropped)
    assert re.search(r"\):\n    weight = ONE\n    more = \{\}\n", found.data.decode())
    assert "ONE = 1.0" in found.added and found.data.decode().startswith(GOAL[:20])

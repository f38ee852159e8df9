"""What is said of a file that calls the target, or reads a command line, while it is imported."""

from __future__ import annotations

import pytest

from lmr_author.authoring.masking.body import import_remarks
from lmr_author.core import code
from lmr_author.core.indexing import read
from lmr_author.core.task import Target

SCRIPT = """\
import argparse

parser = argparse.ArgumentParser()
{argument}
args = {parsed}


def loss(x):
    return x


class Net:
    def loss(self, x):
        return loss(x)


def train():
    loss(1)


{end}
"""
DATASET = "parser.add_argument('dataset', choices=['a', 'b'])"


def told(
    argument: str = "", parsed: str = "parser.parse_args()", end: str = "", name: str = "loss"
) -> list[str]:
    """The remarks about a function of the script."""
    text = SCRIPT.format(argument=argument, parsed=parsed, end=end)
    module = code.Module.parse(text.encode(), "train.py")
    return list(import_remarks(module, code.find(module, Target("train.py", name))))


@pytest.mark.parametrize(
    ("end", "begins"),
    [
        ("print(loss(1))", "loss is called when the file is imported (line 21): the masked file cannot"),
        ("@loss\ndef other(): pass", "loss is called when the file is imported (line 21)"),
        (
            "if __name__ != '__main__':\n    pass\nelse:\n    pass\nf = lambda x=loss(1): x",
            "loss is called when",
        ),
    ],
)
def test_a_function_that_runs_on_import_is_told(end: str, begins: str) -> None:
    (remark,) = told(end=end)
    assert remark.startswith(begins)


@pytest.mark.parametrize(
    "end",
    [
        "if __name__ == '__main__':\n    train()\n    loss(1)",
        "def main():\n    train()",
        "Net().loss(1)",
    ],
)
def test_what_runs_later_is_no_matter(end: str) -> None:
    assert told(end=end) == []


def test_a_method_is_not_the_function_of_its_name() -> None:
    assert told(end="loss(1)", name="Net.loss") == []


@pytest.mark.parametrize(
    ("argument", "demanded"),
    [
        (DATASET, "dataset"),
        ("parser.add_argument('-d', '--data', required=True)", "--data"),
        (f"parser.add_argument('-v')\n{DATASET}", "dataset"),
    ],
)
def test_a_command_line_without_which_the_file_ends_is_told(argument: str, demanded: str) -> None:
    (remark,) = told(argument)
    assert f"and requires {demanded}: no test can import it" in remark


@pytest.mark.parametrize(
    ("argument", "parsed"),
    [
        ("parser.add_argument('data', nargs='?')", "parser.parse_args()"),
        (DATASET, "parser.parse_args(['a'])"),
        (f"if __name__ == '__main__':\n    {DATASET}", "parser.parse_args()"),
    ],
)
def test_a_command_line_that_may_be_empty_is_no_matter(argument: str, parsed: str) -> None:
    assert told(argument, parsed) == []


PROGRAMS = {
    "main()": "main()",
    "main(parse_args())": "main(parse_args())",
    "evaluate(get_args())": "evaluate(get_args())",
    "evaluate()": "",
    "try:\n    sys.exit(main())\nfinally:\n    pass": "sys.exit(main())",
    "app.run(main)": "app.run(main)",
    "start()": "start()",
    "for epoch in range(9):\n    evaluate(epoch)": "evaluate(epoch)",
    "for batch in tqdm(DATA):\n    seen = evaluate(batch)": "for batch in tqdm(DATA):",
    "model = Model.from_pretrained('m')": "model = Model.from_pretrained('m')",
    "args = get_args()": "",
    "for name in ('a', 'b'):\n    evaluate(name)": "",
    "if __name__ == '__main__':\n    main()": "",
    "if len(sys.argv) > 1:\n    main()": "",
    "for name in NAMES:\n    NAMES.append(name)": "",
    "evaluate.register(main)": "",
    "def other():\n    main()": "",
}
"""End of a file → the statement by which it runs a program when it is imported; "" for none."""


@pytest.mark.parametrize("end", PROGRAMS)
def test_a_file_that_runs_its_program_is_named_with_the_remedy(end: str) -> None:
    text = (
        "import sys\n\n\ndef evaluate(args=None):\n    return args\n\n\ndef get_args():\n"
        "    return parser.parse_args()\n\n\ndef start():\n    evaluate(get_args())\n\n\n"
        "def main(args=None):\n    evaluate(args)\n\n\ndef loss(x):\n    return x\n\n\n"
    )
    data = f"{text}{end}\n".encode()
    module = code.Module.parse(data, "train.py")
    remarks = list(import_remarks(module, code.find(module, Target("train.py", "loss"))))
    obstacle = read("train.py", data)[0][-1].obstacle if "def other" not in end else None
    if not PROGRAMS[end]:
        assert remarks == [] and obstacle is None
        return
    (remark,) = remarks
    assert f": `{PROGRAMS[end]}`)" in remark and "lmr-author new-task --patch FILE" in remark
    assert obstacle is not None and obstacle.kind == "program"


@pytest.mark.parametrize(
    ("before", "body", "names"),
    [
        ("", "return [i for i in xrange(x)]", "xrange"),
        ("from six.moves import xrange", "return xrange(x)", ""),
        ("import sys", "return range(x) if sys.version_info[0] > 2 else xrange(x)", ""),
        ("def g(): return xrange(3)\ndef h(): return g()", "return h()", "xrange"),
    ],
)
def test_what_only_python_2_has_is_named(before: str, body: str, names: str) -> None:
    module = code.Module.parse(f"{before}\n\ndef f(x):\n    {body}\n".encode(), "a.py")
    found = list(import_remarks(module, code.find(module, Target("a.py", "f"))))
    said = f"f, or a function of its file that it calls, uses {names}, which Python 3 lacks: it cannot run"
    assert [line.partition(";")[0] for line in found] == ([said] if names else [])

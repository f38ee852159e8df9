"""How models write the answer that they mean: the same function in many shapes of reply.

A shape turns a function into a reply. Where the reply has two versions, the one that counts is ``answer.code`` and the
other is ``answer.draft``: a shape is a test of both a right answer after a wrong draft and the reverse.
"""

from __future__ import annotations

import ast
import difflib
import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

HELPERS = '''\
import math as _math

_UNIT = 2.0


def _rescaled(value):
    """Give the square root in units."""
    return _math.sqrt(value) / _UNIT
'''
NEEDED = frozenset({"_math", "_UNIT", "_rescaled"})
"""What an answer with helpers needs at the top of its file."""


@dataclass(frozen=True)
class Answer:
    """A function as a model means it.

    Attributes:
        path: the goal file.
        masked: its text, as the model saw it.
        name: the target's name.
        owner: its class, or ``""``.
        code: the function, not indented.
        draft: another version of it.
    """

    path: str
    masked: str
    name: str
    owner: str
    code: str
    draft: str

    @property
    def target(self) -> ast.FunctionDef | ast.AsyncFunctionDef:
        return find_function(ast.parse(self.masked), self.name, self.owner)

    @property
    def as_method(self) -> str:
        """The function as it stands in its file."""
        return textwrap.indent(self.code, "    ") if self.owner else self.code

    @property
    def whole(self) -> str:
        """The goal file with the function in its place."""
        lines = self.masked.splitlines(keepends=True)
        node = self.target
        assert node.end_lineno is not None
        lines[node.lineno - 1 : node.end_lineno] = [self.as_method.rstrip("\n") + "\n"]
        return "".join(lines)

    @property
    def whole_class(self) -> str:
        module = ast.parse(self.whole)
        owner = next(
            node for node in module.body if isinstance(node, ast.ClassDef) and node.name == self.owner
        )
        first = min([owner.lineno, *(decorator.lineno for decorator in owner.decorator_list)])
        return "\n".join(self.whole.splitlines()[first - 1 : owner.end_lineno]) + "\n"

    @property
    def signature(self) -> str:
        """The lines from ``def`` to the colon, not indented."""
        node = ast.parse(self.code).body[0]
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        return "\n".join(self.code.splitlines()[: node.body[0].lineno - 1]) + "\n"

    @property
    def body(self) -> str:
        """The statements of the function, without a docstring, not indented."""
        return textwrap.dedent(self.code[len(self.signature) :])

    @property
    def using_helpers(self) -> str:
        """The function with a first line that needs :data:`HELPERS`."""
        return self.signature + "    scale = _rescaled(_UNIT)\n" + textwrap.indent(self.body, "    ")

    def documented(self, docstring: str) -> str:
        """The function with a docstring."""
        text = textwrap.indent(f'"""{docstring}"""\n', "    ")
        return self.signature + text + textwrap.indent(self.body, "    ")


@dataclass(frozen=True)
class Shape:
    """One way to write an answer.

    Attributes:
        name: what it is called in results.
        write: writes the reply.
        with_helpers: the function that is meant is ``Answer.using_helpers``.
        refused: there is nothing complete in it: whatever the function, it is not judged as right.
        only: ``"methods"``, where it makes sense for them alone.
    """

    name: str
    write: Callable[[Answer], str]
    with_helpers: bool = False
    refused: bool = False
    only: str = ""


SHAPES: list[Shape] = []


def shape(
    *, with_helpers: bool = False, refused: bool = False, only: str = ""
) -> Callable[[Callable[[Answer], str]], Callable[[Answer], str]]:
    def register(write: Callable[[Answer], str]) -> Callable[[Answer], str]:
        SHAPES.append(Shape(write.__name__, write, with_helpers, refused, only))
        return write

    return register


def find_function(tree: ast.Module, name: str, owner: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Return the last definition of a function in a module, or in a class at its top."""
    body: list[ast.stmt] = tree.body
    if owner:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == owner).body
    functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [node for node in functions if node.name == name][-1]


def fenced(code: str, label: str = "python", marks: str = "```") -> str:
    return f"{marks}{label}\n{code.rstrip()}\n{marks}\n"


# Fences


@shape()
def plain_fence(answer: Answer) -> str:
    return f"Here is the implementation:\n\n{fenced(answer.code)}\nIt follows equation (1).\n"


@shape()
def fence_without_label(answer: Answer) -> str:
    return fenced(answer.code, "")


@shape()
def fence_py(answer: Answer) -> str:
    return fenced(answer.code, "py")


@shape()
def fence_with_version(answer: Answer) -> str:
    return fenced(answer.code, "python3.10")


@shape()
def fence_with_path(answer: Answer) -> str:
    return fenced(answer.code, f"python:{answer.path}")


@shape()
def fence_with_title(answer: Answer) -> str:
    return fenced(answer.code, f'python title="{answer.path}" linenums="1"')


@shape()
def fence_with_braces(answer: Answer) -> str:
    return fenced(answer.code, "{.python .numberLines}")


@shape()
def fence_upper_case(answer: Answer) -> str:
    return fenced(answer.code, "Python")


@shape()
def tilde_fence(answer: Answer) -> str:
    return fenced(answer.code, marks="~~~")


@shape()
def four_backticks(answer: Answer) -> str:
    return fenced(answer.code, marks="````")


@shape()
def fence_in_a_list(answer: Answer) -> str:
    return (
        "1. The function:\n\n" + textwrap.indent(fenced(answer.code), "   ") + "\n2. Nothing else changes.\n"
    )


@shape()
def fence_glued_to_the_last_line(answer: Answer) -> str:
    return f"```python\n{answer.code.rstrip()}```\nThat is all."


@shape()
def fence_never_closed(answer: Answer) -> str:
    return f"Sure!\n```python\n{answer.code}"


@shape()
def fence_label_on_a_line_with_prose(answer: Answer) -> str:
    return f"The code: ```python\n{answer.code}```"


@shape()
def crlf(answer: Answer) -> str:
    return fenced(answer.code).replace("\n", "\r\n")


@shape()
def byte_order_mark(answer: Answer) -> str:
    return "\ufeff" + fenced(answer.code)


@shape()
def tabs(answer: Answer) -> str:
    lines = answer.code.splitlines()
    widths = [(len(line) - len(line.lstrip(" "))) for line in lines]
    tabbed = [
        "\t" * (width // 4) + " " * (width % 4) + line.lstrip(" ")
        for line, width in zip(lines, widths, strict=True)
    ]
    return fenced("\n".join(tabbed))


# No fence


@shape()
def bare_code(answer: Answer) -> str:
    return answer.code


@shape()
def bare_code_between_prose(answer: Answer) -> str:
    return f"Here is the function:\n\n{answer.code}\n\nThis implements the paper's algorithm, as asked.\n"


@shape()
def code_tags(answer: Answer) -> str:
    return f"<answer>\n<code>\n{answer.code}</code>\n</answer>\n"


@shape()
def json_in_a_fence(answer: Answer) -> str:
    return fenced(json.dumps({"explanation": "as in the paper", "code": answer.code}, indent=2), "json")


@shape()
def json_string(answer: Answer) -> str:
    return json.dumps(answer.code)


# Fences inside the code


@shape()
def docstring_with_a_fence(answer: Answer) -> str:
    example = f"Compute it.\n\nExample:\n```python\n>>> {answer.name}()\n```\nand no more.\n"
    return fenced(answer.documented(example))


@shape()
def docstring_with_a_fence_then_prose(answer: Answer) -> str:
    example = f"Compute it.\n\n```\n{answer.name}(1, 2)\n```\n"
    return f"First:\n{fenced(answer.documented(example))}\nIt is called so:\n{fenced(answer.name + '(1, 2)')}"


@shape()
def comment_with_a_fence(answer: Answer) -> str:
    return fenced(f"# ```python\n# {answer.name}()\n# ```\n{answer.code}") + "\nDone."


@shape()
def docstring_with_a_fence_and_helpers_before(answer: Answer) -> str:
    example = "Compute it.\n\n```\nexample()\n```\n"
    return fenced(HELPERS) + "\nThen:\n\n" + fenced(answer.documented(example))


# Helpers


@shape(with_helpers=True)
def helpers_in_the_block(answer: Answer) -> str:
    return fenced(HELPERS + "\n\n" + answer.using_helpers)


@shape(with_helpers=True)
def helpers_in_a_block_before(answer: Answer) -> str:
    return f"A helper first:\n{fenced(HELPERS)}\nNow the function:\n{fenced(answer.using_helpers)}"


@shape(with_helpers=True)
def helpers_in_steps(answer: Answer) -> str:
    imports, rest = HELPERS.split("\n\n", 1)
    constant, helper = rest.split("\n\n\n", 1)
    steps = [
        ("Imports", imports),
        ("Constants", constant),
        ("Helper", helper),
        ("Function", answer.using_helpers),
    ]
    written = (
        f"### Step {number}: {title}\n\n{fenced(code)}" for number, (title, code) in enumerate(steps, 1)
    )
    return "\n".join(written)


@shape(with_helpers=True)
def helpers_after_the_function(answer: Answer) -> str:
    return f"{fenced(answer.using_helpers)}\nwith this helper:\n{fenced(HELPERS)}"


@shape(with_helpers=True)
def helpers_below_in_the_block(answer: Answer) -> str:
    return fenced(answer.using_helpers + "\n\n" + HELPERS)


@shape(with_helpers=True)
def helpers_and_no_fence(answer: Answer) -> str:
    return HELPERS + "\n\n" + answer.using_helpers


@shape(with_helpers=True)
def helpers_in_the_whole_file(answer: Answer) -> str:
    lines = answer.whole.splitlines(keepends=True)
    node = answer.target
    assert node.end_lineno is not None
    using = Answer(answer.path, answer.masked, answer.name, answer.owner, answer.using_helpers, "").whole
    module = ast.parse(using)
    after_imports = max(
        node.end_lineno or 0 for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)
    )
    lines = using.splitlines(keepends=True)
    return fenced("".join(lines[:after_imports]) + HELPERS + "\n\n" + "".join(lines[after_imports:]))


@shape(with_helpers=True, only="methods")
def helpers_above_an_indented_method(answer: Answer) -> str:
    return fenced(HELPERS + "\n\n" + textwrap.indent(answer.using_helpers, "    "))


@shape(with_helpers=True, only="methods")
def helpers_above_a_class_around_the_method(answer: Answer) -> str:
    around = f"class {answer.owner}:\n" + textwrap.indent(answer.using_helpers, "    ")
    return fenced(HELPERS + "\n\n" + around)


@shape(with_helpers=True)
def helper_as_draft_and_again(answer: Answer) -> str:
    wrong = HELPERS.replace("_math.sqrt(value) / _UNIT", "None")
    return f"{fenced(wrong)}\nNo, the helper has to be\n{fenced(HELPERS)}\n{fenced(answer.using_helpers)}"


# Drafts


@shape()
def draft_then_final(answer: Answer) -> str:
    return f"A first try:\n{fenced(answer.draft)}\nWait, that is not equation (2).\n\n{fenced(answer.code)}"


@shape()
def draft_and_final_in_one_block(answer: Answer) -> str:
    return fenced(f"{answer.draft}\n\n# better:\n{answer.code}")


@shape()
def think_with_a_draft(answer: Answer) -> str:
    return f"<think>\nMaybe\n{fenced(answer.draft)}\nor not.\n</think>\n\n{fenced(answer.code)}"


@shape()
def thinking_with_a_bare_draft(answer: Answer) -> str:
    return f"<thinking>\nHm.\n{answer.draft}\n</thinking>\n{answer.code}"


@shape()
def reasoning_with_a_draft_that_is_not_closed(answer: Answer) -> str:
    return f"<reasoning>\nSo\n```python\n{answer.draft}\n</reasoning>\n{fenced(answer.code)}"


@shape()
def think_without_a_beginning(answer: Answer) -> str:
    return f"I could write\n{fenced(answer.draft)}\nNo.\n</think>\n{fenced(answer.code)}"


@shape()
def think_that_repeats_the_answer_after_it(answer: Answer) -> str:
    return f"{fenced(answer.code)}\n<think>an alternative would be\n{fenced(answer.draft)}</think>\n"


@shape()
def stub_then_code(answer: Answer) -> str:
    return f"The signature is\n{fenced(answer.signature + '    ...')}\nand the code\n{fenced(answer.code)}"


@shape()
def stub_after_the_code(answer: Answer) -> str:
    stub = fenced(answer.signature + "    pass")
    return f"{fenced(answer.code)}\nThe signature did not change:\n{stub}"


@shape()
def masked_function_then_code(answer: Answer) -> str:
    masked = answer.signature + "    # TODO: implement\n    raise NotImplementedError\n"
    return f"You asked for\n{fenced(masked)}\nHere it is:\n{fenced(answer.code)}"


@shape()
def stub_with_a_docstring_after_the_code(answer: Answer) -> str:
    stub = answer.signature + '    """Compute it."""\n    # ... as above\n'
    return f"{fenced(answer.code)}\nSo the outline is\n{fenced(stub)}"


@shape()
def signature_alone_then_code(answer: Answer) -> str:
    return f"The signature:\n{fenced(answer.signature)}\nThe function:\n{fenced(answer.code)}"


@shape()
def lines_are_quoted_after_the_code(answer: Answer) -> str:
    quoted = textwrap.indent("\n".join(answer.body.splitlines()[:2]), "    ")
    return f"{fenced(answer.code)}\nThe first lines\n{fenced(quoted)}\nprepare the inputs: `scale = 2` is not needed.\n"


# Parts and wholes


@shape()
def whole_file(answer: Answer) -> str:
    return f"**{answer.path}**\n\n{fenced(answer.whole)}"


@shape()
def whole_file_without_a_fence(answer: Answer) -> str:
    return answer.whole


@shape()
def whole_file_after_the_draft_of_it(answer: Answer) -> str:
    other = Answer(answer.path, answer.masked, answer.name, answer.owner, answer.draft, "")
    return f"{fenced(other.whole)}\nI have to correct this:\n{fenced(answer.whole)}"


@shape(only="methods")
def whole_class(answer: Answer) -> str:
    return fenced(answer.whole_class)


@shape(only="methods")
def class_around_the_method(answer: Answer) -> str:
    return fenced(f"class {answer.owner}:\n    # ... other methods ...\n\n{answer.as_method}")


@shape(only="methods")
def indented_method(answer: Answer) -> str:
    return fenced(answer.as_method)


@shape(only="methods")
def indented_method_without_a_fence(answer: Answer) -> str:
    return answer.as_method


@shape(only="methods")
def indented_method_in_an_outline(answer: Answer) -> str:
    return fenced(f"class {answer.owner}:\n    def __init__(self, *args):\n        ...\n\n{answer.as_method}")


@shape()
def body(answer: Answer) -> str:
    return f"Replace the `raise` by\n{fenced(answer.body)}"


@shape()
def indented_body(answer: Answer) -> str:
    return fenced(textwrap.indent(answer.body, "        "))


@shape()
def body_without_a_fence(answer: Answer) -> str:
    return answer.body


@shape()
def decorated(answer: Answer) -> str:
    return fenced(f"@(lambda function: function)\n{answer.code}")


@shape()
def another_class_has_the_name(answer: Answer) -> str:
    other = f"class _Naive:\n    def {answer.name}(self):\n        return 0\n"
    return fenced(f"{answer.code}\n\n{other}")


# What comes beside it


@shape()
def usage_in_the_block(answer: Answer) -> str:
    usage = f'value = {answer.name}(1)\n\nif __name__ == "__main__":\n    print({answer.name}(1))\n'
    return fenced(f"{answer.code}\n\n{usage}")


@shape()
def usage_in_a_block_after(answer: Answer) -> str:
    usage = f"import missing_package\n\nresult = {answer.name}(missing_package.load())\nassert result\nprint(result)\n"
    return f"{fenced(answer.code)}\nUse it so:\n{fenced(usage)}"


@shape()
def tests_after_it(answer: Answer) -> str:
    tests = f"def test_{answer.name}():\n    assert {answer.name}(1) == 1\n\n\ntest_{answer.name}()\n"
    return f"{fenced(answer.code)}\nTests:\n{fenced(tests)}"


@shape()
def shell_block_after_it(answer: Answer) -> str:
    return f"{fenced(answer.code)}\nInstall first:\n{fenced('pip install numpy && python train.py', 'bash')}"


@shape()
def other_languages_around_it(answer: Answer) -> str:
    formula = fenced(r"L = \frac{1}{N} \sum_i l_i", "latex")
    return f"The paper has\n{formula}\nso\n{fenced(answer.code)}\nwhich prints\n{fenced('0.25', 'text')}"


@shape()
def javascript_after_it(answer: Answer) -> str:
    port = f"function {answer.name}(x) {{ return x; }}"
    return f"{fenced(answer.code)}\nIn JavaScript:\n{fenced(port, 'js')}"


@shape()
def inline_code_around_it(answer: Answer) -> str:
    return f"I write `{answer.name}` with ``numpy``.\n{fenced(answer.code)}\nNote `x = 1`, `def {answer.name}()`.\n"


# Edits


def masked_text(answer: Answer) -> list[str]:
    node = answer.target
    return answer.masked.splitlines(keepends=True)[node.lineno - 1 : node.end_lineno]


def diff(answer: Answer, context: int = 3) -> str:
    before, after = answer.masked.splitlines(keepends=True), answer.whole.splitlines(keepends=True)
    names = f"a/{answer.path}", f"b/{answer.path}"
    return "".join(difflib.unified_diff(before, after, *names, n=context))


@shape()
def unified_diff(answer: Answer) -> str:
    return f"Apply this:\n{fenced(diff(answer), 'diff')}"


@shape()
def git_diff_without_a_fence(answer: Answer) -> str:
    return f"diff --git a/{answer.path} b/{answer.path}\nindex 123..456 100644\n{diff(answer)}"


@shape()
def diff_with_wrong_numbers(answer: Answer) -> str:
    lines = [
        "@@ -1,2 +1,2 @@\n" if line.startswith("@@") else line
        for line in diff(answer).splitlines(keepends=True)
    ]
    return fenced("".join(lines), "diff")


@shape()
def diff_without_numbers(answer: Answer) -> str:
    lines = ["@@\n" if line.startswith("@@") else line for line in diff(answer).splitlines(keepends=True)]
    return fenced("".join(lines), "diff")


@shape(refused=True)
def diff_that_does_not_apply(answer: Answer) -> str:
    return fenced(diff(answer).replace("\n ", "\n of another version "), "diff")


@shape()
def search_and_replace(answer: Answer) -> str:
    before = "".join(masked_text(answer))
    return f"<<<<<<< SEARCH\n{before}=======\n{answer.as_method}>>>>>>> REPLACE\n"


@shape()
def search_and_replace_in_a_fence(answer: Answer) -> str:
    first = answer.target.body[ast.get_docstring(answer.target) is not None].lineno - answer.target.lineno
    body = textwrap.indent(answer.body, "        " if answer.owner else "    ")
    # Without the indentation of its line, as models copy it.
    search = "".join(masked_text(answer)[first:]).strip()
    edit = f"<<<<<<< SEARCH\n{search}\n=======\n{body if first else answer.as_method}>>>>>>> REPLACE"
    return f"{answer.path}\n{fenced(edit)}"


@shape(with_helpers=True)
def two_searches(answer: Answer) -> str:
    imports = (line for line in answer.masked.splitlines() if line.startswith(("import ", "from ")))
    imported = next(line for line in imports if "future" not in line)
    code = textwrap.indent(answer.using_helpers, "    ") if answer.owner else answer.using_helpers
    first = f"<<<<<<< SEARCH\n{imported}\n=======\n{imported}\n{HELPERS}\n>>>>>>> REPLACE"
    second = f"<<<<<<< SEARCH\n{''.join(masked_text(answer))}=======\n{code}>>>>>>> REPLACE"
    return f"{fenced(first)}\nand\n{fenced(second)}"


@shape(refused=True)
def search_that_matches_nothing(answer: Answer) -> str:
    return f"<<<<<<< SEARCH\n    of_another_version()\n=======\n{answer.as_method}>>>>>>> REPLACE\n"


# Nothing complete


@shape(refused=True)
def cut_off(answer: Answer) -> str:
    lines = answer.code.splitlines()
    return "```python\n" + "\n".join(lines[: len(lines) // 2]) + "\n    total = (1 +"


@shape(refused=True)
def prose_only(answer: Answer) -> str:
    return f"I would implement `{answer.name}` as in the paper, but I cannot see its data."


@shape(refused=True)
def stub_only(answer: Answer) -> str:
    return fenced(answer.signature + "    raise NotImplementedError\n")


@shape(refused=True)
def only_in_the_thinking(answer: Answer) -> str:
    return f"<think>\n{fenced(answer.code)}\n</think>\nI cannot answer this.\n"

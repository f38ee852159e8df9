"""LMR007, 010: the function that an implementation names, and the paths that it gives."""

from __future__ import annotations

from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck, Where
from lmr_author.checks.example_texts import GOLDEN, REPOSITORY
from lmr_author.checks.lookup import candidates, did_you_mean, function_names
from lmr_author.checks.pairing import pair
from lmr_author.checks.view import TaskView
from lmr_author.checks.written_paths import leaves
from lmr_author.model import Finding, Implementation
from lmr_author.source import Definition, Module

_SECOND_CLASS = '''

class PairLoss:
    """Another loss."""

    def forward(self, scores, labels):
        """The pairwise loss at margin 2."""
        return pairwise_loss(scores, labels, 2.0)[0]
'''


_FORWARD = """\
wanted = self.normalise(labels)
        found = self.normalise(scores)
        return -sum(p * math.log(q) for p, q in zip(wanted, found))"""


class TargetNamed(ImplementationCheck):
    code = "LMR007"
    title = "goal_function and class_name name exactly one function"
    fixable = True
    rationale = (
        "Candidates are spliced into this function. A class, an absent name or one that several functions of"
        " the file have (`forward`!) leaves open what was to be implemented, and what is replaced."
    )
    failing = (
        Example("goal_function is missing", implementation={"goal_function": None}),
        Example(
            "goal_function is a class",
            implementation={"goal_function": "ListLoss"},
            also=("LMR303", "LMR304", "LMR506"),
        ),
        Example(
            "several classes have this method, and class_name is empty",
            implementation={"goal_function": "forward"},
            files={
                f"{REPOSITORY}/ranking/losses.py": (
                    GOLDEN.replace(_FORWARD, "raise NotImplementedError") + _SECOND_CLASS
                ),
                "golden_files/losses_golden.py": GOLDEN + _SECOND_CLASS,
                f"{REPOSITORY}/unit_test/unit_test_1.py": None,
            },
            also=("LMR501",),
        ),
        Example(
            "several classes have this method, and a print was added to one that is not masked",
            implementation={"goal_function": "forward"},
            files={
                f"{REPOSITORY}/ranking/losses.py": (
                    GOLDEN.replace(_FORWARD, "raise NotImplementedError")
                    + _SECOND_CLASS.replace("        return", "        print(scores)\n        return")
                ),
                "golden_files/losses_golden.py": GOLDEN + _SECOND_CLASS,
                f"{REPOSITORY}/unit_test/unit_test_1.py": None,
            },
            also=("LMR304", "LMR501"),
        ),
        Example(
            "class_name is misspelt, and another class has this method, too",
            implementation={"goal_function": "forward", "class_name": "ListLos"},
            files={
                f"{REPOSITORY}/ranking/losses.py": (
                    GOLDEN.replace(_FORWARD, "raise NotImplementedError") + _SECOND_CLASS
                ),
                "golden_files/losses_golden.py": GOLDEN + _SECOND_CLASS,
                f"{REPOSITORY}/unit_test/unit_test_1.py": None,
            },
            also=("LMR501",),
        ),
        Example("class_name is set for a plain function", implementation={"class_name": "ListLoss"}),
        Example(
            "two names in one", implementation={"goal_function": "sigmoid, pairwise_loss"}, also=("LMR303",)
        ),
        Example("written as a call", implementation={"goal_function": "pairwise_loss()"}),
        Example("a blank before it", implementation={"goal_function": " pairwise_loss"}),
    )
    passing = (Example("a plain function, class_name empty"),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding for each name."""
        where: Where = {"implementation": implementation, "path": "info.json", "pointer": ""}
        position = view.position(implementation)
        where["pointer"] = f"/implementations/{position}/goal_function"
        names = function_names(implementation)
        if not names:
            yield self.finding(
                view, "goal_function is missing or no name", "name the masked function", **where
            )
            return
        if len(names) > 1:
            listed = ", ".join(names)
            yield self.finding(
                view,
                f"goal_function names {len(names)} functions: {listed}",
                "make one implementation of each",
                **where,
            )
            return
        module = pair(view, implementation).golden or pair(view, implementation).goal
        if module is None:
            return
        message, hint, fixable = self._problem(module, names[0], implementation)
        if message:
            where["fixable"] = fixable
            yield self.finding(view, message, hint, **where)

    def _problem(self, module: Module, name: str, implementation: Implementation) -> tuple[str, str, bool]:
        found = candidates(module, name, implementation.class_name.strip())
        qualnames = list(dict.fromkeys(item.qualname for item in found))
        if not found:
            return "", "", False  # LMR301 and LMR302 say that it is not there
        lines = ", ".join(str(item.line) for item in found)
        if len(qualnames) > 1:
            classes = [qualname.rpartition(".")[0] for qualname in qualnames]
            message = f"{name} is defined in {', '.join(classes)}: which one is meant?"
            given = implementation.class_name.strip()
            if given:
                message = f"class_name {given!r:.80} is no class of the file; {message}"
            return message, did_you_mean(given, classes) or "set class_name", False
        if found[0].kind == "class":
            return (
                f"{name} is a class",
                "name the masked method in goal_function and the class in class_name",
                False,
            )
        if len(found) > 1:
            return (
                f"{qualnames[0]} is defined {len(found)} times, at lines {lines}",
                "name an unambiguous function",
                False,
            )
        return _written(found[0], implementation)


def _written(found: Definition, implementation: Implementation) -> tuple[str, str, bool]:
    """What is wrong with how the one function that is meant is written, as for ``_problem``."""
    class_name, _, function = found.qualname.rpartition(".")
    if (class_name, function) == (implementation.class_name, implementation.goal_function):
        return "", "", False
    joined = ".".join(
        part for part in (implementation.class_name.strip(), implementation.goal_function.strip()) if part
    )
    if joined == found.qualname and found.class_name != class_name:
        return "", "", False  # a nested function: outer.inner stays in goal_function
    wanted = f'write class_name "{found.class_name}" and goal_function "{found.function_name}"'
    if function == implementation.goal_function.strip():
        if not class_name:
            return (
                f"{function} is a plain function, class_name is {implementation.class_name!r}",
                wanted,
                True,
            )
        given = (
            f"class_name is {implementation.class_name!r}"
            if implementation.class_name
            else "class_name is empty"
        )
        return f"{function} is a method of {class_name}, but {given}", wanted, True
    return (
        f"goal_function {implementation.goal_function!r:.80} is not just the function's name",
        wanted,
        True,
    )


class PathsStayInside(ImplementationCheck):
    code = "LMR010"
    title = "paths are relative and stay inside the task"
    rationale = (
        "A path of the annotator's own machine exists nowhere else, and one with `..` makes tools read or"
        " write outside of the task."
    )
    failing = (
        Example(
            "an absolute path", implementation={"goal_file": "/home/me/margin-ranking/ranking/losses.py"}
        ),
        Example("a path upwards", implementation={"golden_file": "../golden_files/losses_golden.py"}),
        Example("a Windows path", implementation={"unit_test_file": "C:\\work\\unit_test_1.py"}),
    )
    passing = (Example("a leading ./", implementation={"goal_file": "./ranking/losses.py"}),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each such path."""
        position = view.position(implementation)
        for key in ("goal_file", "golden_file", "unit_test_file"):
            text = str(getattr(implementation, key))
            root = view.task.root if key == "golden_file" else view.repository
            if leaves(view, root, text):
                yield self.finding(
                    view,
                    f"{key} {text!r:.120} does not stay inside"
                    f" {'the task' if key == 'golden_file' else 'the repository'}",
                    "write a relative path without '..'",
                    implementation=implementation,
                    path="info.json",
                    pointer=f"/implementations/{position}/{key}",
                )

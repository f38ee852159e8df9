"""Random small programs that end: loops, branches, exceptions, closures, containers."""

from __future__ import annotations

from random import Random

NAMES = ("a", "b", "c", "d")
LISTS = ("p", "q")

PRELUDE = """\
from contextlib import suppress
LIMIT = 3
a = 1
p = [1, 2]
log = []


def show():
    return len(log)


def early(x):
    if x > 1:
        raise ValueError(x)
    return x


"""

SHARING = """\
def peek():
    return [a, b]


def poke():
    global b
    b = 7


"""


class Programs:
    """A generator of programs; every choice comes from one source of randomness."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.counter = 0

    def program(self) -> str:
        """A script, with its code at top level or in a function, method, generator or nested function."""
        shape = self.random.choice(["script", "script", "guard", "function", "method", "nested"])
        text = PRELUDE + (SHARING if self.random.random() < 0.3 else "")
        self.sharing = "def peek" in text
        if shape == "script":
            return text + self.begun(0, 3, 6, shape) + "print(a, p)\n"
        if shape == "guard":
            return text + 'if __name__ == "__main__":\n' + self.begun(1, 3, 6, shape)
        if shape == "nested":
            inner = "    def inner(d, q):\n" + self.begun(2, 2, 4, "function")
            start = "def work(a, p):\n    b = 2\n    c = p[0]\n"
            end = "    print(inner(b, p))\n    b = 5\n    return inner(c, [b])\n\n\nprint(work(a, p))\n"
            return text + start + inner + self.begun(1, 1, 2, "function") + end
        if shape == "method":
            start = "class Work:\n    def __init__(self):\n        self.n = 1\n\n    def work(self, a, p):\n"
            return (
                text
                + start
                + self.begun(2, 2, 5, shape)
                + "\n\nw = Work()\nprint(w.work(a, p), w.n)\ndel w\n"
            )
        return text + "def work(a, p):\n" + self.begun(1, 3, 6, shape) + "\n\nprint(work(a, p))\n"

    def begun(self, depth: int, least: int, most: int, shape: str) -> str:
        """Some statements, most of the variables bound before them."""
        values = {"b": "2", "c": "0", "d": "b", "q": "[3]", "g": "[4]", "h": "show"}
        if shape in ("function", "method"):
            values["k"] = "show"
        pad = "    " * depth
        bound = [f"{pad}{name} = {value}\n" for name, value in values.items() if self.random.random() < 0.9]
        return "".join(bound) + self.body(depth, least, most, shape)

    def body(self, depth: int, least: int, most: int, shape: str, loop: bool = False) -> str:
        """Some statements of a suite."""
        number = self.random.randint(least, most)
        return "".join(self.statement(depth, shape, loop) for _ in range(number))

    def statement(self, depth: int, shape: str, loop: bool) -> str:
        """One statement, compound ones while there is depth left."""
        pad = "    " * depth
        kinds = ["simple"] * 6 + ["compound"] * (3 if depth < 4 else 0) + ["special"] * 2
        kind = self.random.choice(kinds)
        if self.random.random() < 0.1:
            return f"{pad}# {self.name()}\n" + self.statement(depth, shape, loop)
        if kind == "simple":
            return pad + self.simple() + "\n"
        if kind == "special":
            return self.special(pad, shape, loop)
        return self.compound(depth, pad, shape, loop)

    def name(self) -> str:
        """A number variable."""
        return self.random.choice(NAMES)

    def value(self) -> str:
        """A number."""
        one, other, many = self.name(), self.name(), self.random.choice(LISTS)
        return self.random.choice(
            [
                "1", "2", one, one, f"{one} + {other}", f"len({many})", f"{one} if {other} else 0",
                f"early({one})", f"sum(i * {one} for i in {many})",
                f"len([{one} for {one} in {many} if {one}])", "show()", "LIMIT", f"(lambda x={one}: x + {other})()",
                f"max({many}, key=lambda i: i * {one}, default=0)", f"len(f'{{{one}!r:>4}}')",
            ]
        )  # fmt: skip

    def simple(self) -> str:
        """A statement on one line."""
        name, many, value = self.name(), self.random.choice(LISTS), self.value()
        choices = [
            f"{name} = {value}", f"{name} = {value}", f"{name} = {value}", f"{name} += {value}",
            f"print({value}, {name})",
            f"{many} = [{value}]", f"{many}.append({value})", f"{many}[0] = {value}", f"{many} += [{value}]",
            f"{name}, {self.name()} = {value}, 1", f"log.append({name})", f"del {name}",
            f"{name}: int = {value}",
            f"g = (i + {name} for i in {many})", f"h = lambda: {name}", "print(list(g))", "print(h())",
            f"{name} = 0; {self.name()} = 1",
        ]  # fmt: skip
        if self.sharing:
            choices += ["print(peek())", "poke()"] * 2
        return self.random.choice(choices)

    def special(self, pad: str, shape: str, loop: bool) -> str:
        """Statements that only some places allow."""
        name = self.name()
        choices = [
            f'{pad}s = """x\n  {name}"""\n{pad}print(s)\n',
            f"{pad}pass\n",
            f"{pad}print({name},\n  {name})\n",
        ]
        if self.random.random() < 0.1:
            choices += [f"{pad}print(({name} := 1))\n"]
        if loop:
            choices += [f"{pad}if {name} > 1:\n{pad}    {word}\n" for word in ("break", "continue")]
            choices += [f"{pad}continue\n"]
        if shape in ("function", "method"):
            choices += [f"{pad}return {name}\n", f"{pad}if {name}:\n{pad}    return {self.value()}\n"]
        if shape in ("function", "method"):
            inner = f"{pad}def k(x=1):\n{pad}    nonlocal {name}\n{pad}    {name} = x\n{pad}{name} = 4\n"
            choices += [f"{pad}def k():\n{pad}    return {name}\n", f"{pad}print(k())\n"]
            choices += [inner] if depth_of(pad) == 0 else []
        if shape == "method":
            choices += [f"{pad}self.n += {name}\n", f"{pad}{name} = self.n\n"]
        return self.random.choice(choices)

    def compound(self, depth: int, pad: str, shape: str, loop: bool) -> str:
        """A statement with suites."""
        name, other, many = self.name(), self.name(), self.random.choice(LISTS)

        def inner(in_loop: bool = loop) -> str:
            return self.body(depth + 1, 1, 3, shape, in_loop)

        self.counter += 1
        count = f"n{self.counter}"
        choices = [
            lambda: f"{pad}if {name} > 1:\n{inner()}",
            lambda: f"{pad}if {name}:\n{inner()}{pad}elif {other}:\n{inner()}{pad}else:\n{inner()}",
            lambda: f"{pad}for {name} in range(3):\n{inner(True)}",
            lambda: f"{pad}for {name} in list({many}):\n{inner(True)}{pad}else:\n{inner()}",
            lambda: f"{pad}{count} = 0\n{pad}while {count} < 3:\n{pad}    {count} += 1\n{inner(True)}",
            lambda: f"{pad}try:\n{inner()}{pad}except ValueError as {name}:\n{inner()}",
            lambda: (
                f"{pad}try:\n{inner()}{pad}except (ValueError, NameError):\n{inner()}{pad}else:\n{inner()}"
            ),
        ]
        if self.random.random() < 0.2:  # what is refused
            choices += [
                lambda: f"{pad}try:\n{inner()}{pad}finally:\n{pad}    print({name!r})\n{inner(False)}",
                lambda: f"{pad}with suppress(ValueError, TypeError):\n{inner()}",
            ]
        return self.random.choice(choices)()


def depth_of(pad: str) -> int:
    """How deep inside of its function a line is, for functions at the top level."""
    return len(pad) // 4 - 1

# ruff: noqa: E501, ISC004 (samples of source code read better unbroken)
"""Small repositories whose target is of every kind, and the driver that calls it."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tests.probe.harness import Repository


def make(
    tmp_path: Path,
    qualname: str,
    goal: str,
    driver: str,
    goal_file: str = "pkg/goal.py",
    *,
    with_torch: bool = False,
) -> Repository:
    """A repository with one package, whose ``driver.py`` uses the target."""
    root = tmp_path / "repo"
    repository = Repository(root, goal_file, qualname, with_torch=with_torch)
    repository.write(
        {
            "pkg/__init__.py": "",
            "pkg/helper.py": "def double(x):\n    return 2 * x\n",
            goal_file: textwrap.dedent(goal),
            "driver.py": textwrap.dedent(driver),
        }
    )
    return repository


SCENARIOS = {
    "relative import": (
        "scaled",
        "from .helper import double\n\ndef scaled(x, *more, flag=False, **rest):\n    return double(x), more, flag, rest\n",
        "from pkg.goal import scaled\nscaled(1)\nscaled(1.5, 2, 3, flag=True, other=[1])\n",
    ),
    "classmethod": (
        "Tool.make",
        "class Tool:\n    @classmethod\n    def make(cls, x):\n        self = cls()\n        self.x = x\n        return self\n"
        "class Sub(Tool):\n    pass\n",
        "from pkg.goal import Tool, Sub\nTool.make(1)\nSub.make({'a': 2})\n",
    ),
    "property": (
        "Tool.size",
        "class Tool:\n    def __init__(self, n):\n        self.n = n\n    @property\n    def size(self):\n        return self.n * 2\n",
        "from pkg.goal import Tool\nTool(3).size\n",
    ),
    "zero-argument super": (
        "Sub.area",
        "class Base:\n    def area(self, k):\n        return k\n"
        "class Sub(Base):\n    __slots__ = ('w',)\n    def area(self, k):\n        return super().area(k) + self.w, __class__.__name__\n",
        "from pkg.goal import Sub\ns = Sub()\ns.w = 4\ns.area(1)\n",
    ),
    "generator": (
        "count",
        "def count(n):\n    for k in range(n):\n        yield k * k\n    return 'end'\n",
        "from pkg.goal import count\nlist(count(3))\ng = count(100)\nnext(g), next(g)\ng.close()\nlist(count(0))\n",
    ),
    "coroutine": (
        "fetch",
        "import asyncio\n\nasync def fetch(x):\n    await asyncio.sleep(0)\n    return [x]\n",
        "import asyncio\nfrom pkg.goal import fetch\nasyncio.run(fetch('a'))\n",
    ),
    "in-place mutation": (
        "push",
        "def push(items, table, x):\n    items.append(x)\n    table['last'] = items\n    return len(items)\n",
        "from pkg.goal import push\nitems = [1]\npush(items, {}, 2)\npush(items, {'a': 1}, 3)\n",
    ),
    "self changes": (
        "Meter.add",
        "class Meter:\n    def __init__(self):\n        self.values = []\n        self.total = 0\n"
        "    def add(self, x):\n        self.values.append(x)\n        self.total += x\n        return self\n",
        "from pkg.goal import Meter\nm = Meter()\nfor x in (1, 2.5, 3):\n    m.add(x)\n",
    ),
    "raising": (
        "check",
        "class Refused(Exception):\n    pass\n\ndef check(x):\n    if x < 0:\n        raise Refused('negative')\n    return x\n",
        "from pkg.goal import check, Refused\ncheck(1)\ntry:\n    check(-1)\nexcept Refused:\n    pass\n",
    ),
    "functools.wraps": (
        "area",
        "import functools\n\ndef logged(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        return ('logged', f(*a, **k))\n"
        "    return inner\n\n@logged\n@logged\ndef area(w, h=2):\n    return w * h\n",
        "from pkg.goal import area\nassert area(3) == ('logged', ('logged', 6))\narea(2, h=5)\n",
    ),
    "recursive": (
        "fib",
        "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n",
        "from pkg.goal import fib\nfib(6)\nfib(3)\n",
    ),
    "nested with closure": (
        "outer.inner",
        "BASE = 10\n\ndef outer(k, table):\n    total = 0\n    def inner(x):\n        nonlocal total\n        if x < 0:\n"
        "            return inner(-x)\n        total += x\n        return BASE + k * x + len(table)\n    inner(-1)\n    return inner(2) + total\n",
        "from pkg.goal import outer\nouter(3, {'a': 1})\nouter(5, {})\n",
    ),
}
"""Name → qualified name of the target, its file, and the driver."""

SCRIPT = """\
from __future__ import annotations
import sys

class Config:
    def __init__(self, k):
        self.k = k

def scale(config: Config, x):
    return Config(config.k * x)

if __name__ == "__main__":
    print(sys.argv, __name__, __file__)
    scale(Config(2), 3)
    raise SystemExit(5)
"""

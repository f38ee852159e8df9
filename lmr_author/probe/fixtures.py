"""Objects that are built, not stored: a fixture function of the annotator stands in the recording by its name.

A fixture is a function without arguments in ``unit_test/fixtures.py``, as in ``def tokenizer(): ...``. It stands for
every argument and every attribute of its name. What is recorded is the name alone; the object is built where the
recording is replayed, and nowhere else.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from typing import Any, Dict, Iterable, Optional, Tuple

_LAST_STEP = re.compile(r"(?:^|\.|^@closure )([^\W\d]\w*)$")
"""An argument, a free variable, or an attribute; no item of a container."""
_CHILD = re.compile(r"\._(?:modules|parameters|buffers)\['([^\W\d]\w*)'\]")
"""An attribute of a torch module, where the module keeps it."""


def as_written(path: str) -> str:
    """Write a path as code has it: ``self.encoder`` for ``self._modules['encoder']``."""
    return _CHILD.sub(r".\1", path)


class Fixtures:
    """The fixtures of one call, and which objects they stand for.

    Args:
        names: fixtures by which arguments and attributes are recorded.
        path: the file that builds them; None where nothing is built.
    """

    def __init__(self, names: Iterable[str] = (), path: Optional[str] = None) -> None:
        self.path = path
        self._names = frozenset(names)
        self._known: Dict[int, Tuple[str, Any]] = {}
        self._built: Dict[str, Any] = {}
        self._module: Any = None

    def find(self, value: Any, path: str) -> Optional[str]:
        """Return the fixture that stands for an object of the inputs, by where it is, or None."""
        match = _LAST_STEP.search(as_written(path))
        if match is None or match.group(1) not in self._names:
            return self.known(value, path)
        self._known[id(value)] = (match.group(1), value)
        return match.group(1)

    def known(self, value: Any, path: str) -> Optional[str]:
        """Return the fixture that an object was found or built for, or None. Of an outcome, only this counts."""
        found = self._known.get(id(value))
        return None if found is None else found[0]

    def build(self, name: str) -> Any:
        """Return the object of a fixture, one for all places. Raises LookupError, and what the function raises."""
        if name not in self._built:
            function = self.functions().get(name)
            if function is None:
                raise LookupError("unit_test/fixtures.py has no function %s" % name)
            self._built[name] = function()
            self._known[id(self._built[name])] = (name, self._built[name])
        return self._built[name]

    def functions(self) -> Dict[str, Any]:
        """Return the functions that build fixtures, by name. Raises what importing their file raises."""
        if self._module is None:
            if self.path is None:
                raise LookupError("it takes unit_test/fixtures.py to build a fixture")
            spec: Any = importlib.util.spec_from_file_location("lmr_fixtures", self.path)
            self._module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self._module)
        return {name: item for name, item in vars(self._module).items() if inspect.isfunction(item)}

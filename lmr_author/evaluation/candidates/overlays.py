"""What a prediction changes of the masked tree: the goal file, and for whole files what is beside it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from lmr_author import code, files
from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.candidates import changes
from lmr_author.evaluation.candidates.fitting import Fitted, Place, fit, fit_file, whole_file
from lmr_author.evaluation.candidates.predictions import Prediction


class Overlays:
    """Puts the predictions of one implementation in their place.

    Args:
        bench: of the implementation.
        whole: edits outside of the target are applied too.
        others: other masked functions of the same goal file.
    """

    def __init__(self, bench: Bench, *, whole: bool, others: tuple[str, ...]) -> None:
        self._bench = bench
        self._whole = whole
        self._others = others

    def of(self, prediction: Prediction) -> tuple[Fitted, dict[str, bytes]]:
        """A prediction in its place, and the files to lay over the masked tree. Raises Invalid."""
        goal_file, whole = self._bench.implementation.goal_file, self._whole
        if prediction.code is not None:
            fitted = whole_file(prediction.code, self._place) if whole else fit(prediction.code, self._place)
            return fitted, {goal_file: fitted.data}
        changed = self._changed(prediction)
        answer = changed.pop(goal_file, None)
        if answer is None:
            answer = self._given(goal_file) or b""
        fitted = fit_file(answer, self._place, whole=whole)
        goals = {item.goal_file for item in self._bench.info.implementations}
        changed = {name: data for name, data in changed.items() if name not in goals}
        if not whole:
            names = tuple(f"changes {name}" for name in sorted(changed))
            return replace(fitted, dropped=(*fitted.dropped, *names)), {goal_file: fitted.data}
        elsewhere = {name: data for name, data in changed.items() if not self._is_test(name)}
        kept = (*fitted.kept, *(f"changes {name}" for name in sorted(elsewhere)))
        return replace(fitted, kept=kept), {goal_file: fitted.data, **elsewhere}

    def _changed(self, prediction: Prediction) -> dict[str, bytes]:
        """Files that a patch or a tree changes."""
        repository = self._bench.task.repository(self._bench.info)
        if prediction.patch is not None:
            return changes.patched(prediction.patch, repository)
        assert prediction.tree is not None
        return changes.of_tree(prediction.tree, repository, {self._bench.implementation.goal_file})

    def _is_test(self, name: str) -> bool:
        return name.startswith("unit_test/") or name == self._bench.implementation.unit_test_file

    @cached_property
    def _place(self) -> Place:
        name = self._bench.implementation.goal_file
        given = code.Module.parse(self._given(name) or b"", name)
        return Place(self._bench.masked_module, self._bench.qualnames, given, self._others, self._bench.nth)

    def _given(self, relative: str) -> bytes | None:
        """A file of the repository as the model was given it."""
        path = files.inside(self._bench.task.repository(self._bench.info), relative)
        return path.read_bytes() if path.is_file() else None

"""``evaluate --predictions``: judge models' answers to many tasks, side by side, resumable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from lmr_author.errors import LmrError
from lmr_author.evaluation.bench import remove_stale
from lmr_author.evaluation.candidates import cluster, predictions, store
from lmr_author.evaluation.candidates.desk import CandidateOptions, Desk, judged
from lmr_author.evaluation.candidates.pool import Interruption, Pace, each
from lmr_author.evaluation.candidates.predictions import Prediction
from lmr_author.evaluation.candidates.score import Outcome, Result
from lmr_author.evaluation.candidates.summary import Row, summary
from lmr_author.task import Progress, Task, by_name

OnResult = Callable[[Result, Pace], None]


@dataclass(frozen=True)
class Scored:
    """What all predictions came to.

    Attributes:
        results: one for each prediction, in their order, with those of an earlier run.
        resumed: how many of them an earlier run had judged.
        path: the file that holds them.
        broken: tasks whose candidates cannot be judged → why.
        elsewhere: names of tasks that are not here → how many predictions are for them.
    """

    results: tuple[Result, ...]
    resumed: int
    path: Path
    broken: Mapping[str, LmrError]
    elsewhere: Mapping[str, int]

    @property
    def rows(self) -> list[Row]:
        """By model and category."""
        return summary(self.results)

    @property
    def complete(self) -> bool:
        """Whether every candidate has a verdict; those of tasks that are not here are none of ours."""
        judged = all(result.score.outcome is not Outcome.INFRASTRUCTURE for result in self.results)
        return judged and not self.broken


def score(
    tasks: Sequence[Task], source: Path, options: CandidateOptions, say: Progress, on_result: OnResult
) -> Scored:
    """Judge every prediction for some tasks that was not judged before.

    Args:
        source: the file or folder of predictions.
        say: told what is being done.
        on_result: told each result as soon as it is known.

    Raises:
        SandboxError: the sandbox is not to be had (no engine, no bubblewrap).
        LmrError: the predictions cannot be read, or none of the tasks.
        UsageError: two of the tasks have the same name.
        KeyboardInterrupt: Ctrl-C; nothing is left running, and what was judged is kept.
    """
    known, broken = _desks(tasks, options, say)
    given = predictions.read(source, {name: desk.info for name, desk in known.items()})
    items = sorted(given.items, key=lambda item: (list(known).index(item.task), item.index))
    remove_stale()
    pace, interruption = Pace(len(items)), Interruption()
    with store.opened(options.out) as results:
        waiting = _waiting(items, known, results, pace)
        with ExitStack() as stack:
            for desk in known.values():
                stack.callback(desk.close)
            if options.scheduler:
                client = stack.enter_context(cluster.connect(options.scheduler))
                found_here = cluster.each(client, waiting, options)
            else:
                found_here = each(waiting, _worker(interruption), options.jobs, interruption)
            for result in found_here:
                results.add(result)
                pace.step()
                on_result(result, pace)
        results.tidy([_key(item) for item in items])
        found = tuple(results.results[_key(item)] for item in items)
    elsewhere = {name: number for name, number in given.elsewhere.items() if name not in broken}
    return Scored(found, pace.skipped, options.out / store.RESULTS, broken, elsewhere)


def _desks(
    tasks: Sequence[Task], options: CandidateOptions, say: Progress
) -> tuple[dict[str, Desk], dict[str, LmrError]]:
    """The tasks by name, and those whose ``info.json`` cannot be read.

    Raises LmrError: none can; UsageError: two have the same name.
    """
    known: dict[str, Desk] = {}
    broken: dict[str, LmrError] = {}
    for name, task in by_name(tasks, "results").items():
        try:
            known[name] = Desk(task, options, say)
        except LmrError as error:
            broken[name] = error
    if not known:
        raise next(iter(broken.values()))
    return known, broken


def _waiting(
    items: Sequence[Prediction], known: Mapping[str, Desk], results: store.Store, pace: Pace
) -> Iterator[tuple[Desk, Prediction, str]]:
    """What is to be judged, with its digest: all that no earlier run judged. Closes tasks that have no more."""
    left = Counter(item.task for item in items)
    for item in items:
        desk = known[item.task]
        digest = desk.digest(item)
        left[item.task] -= 1
        if results.judged(_key(item), digest):
            pace.skip()
        else:
            desk.begin()
            yield desk, item, digest
        if not left[item.task]:
            desk.no_more()


def _worker(interruption: Interruption) -> Callable[[tuple[Desk, Prediction, str]], Result]:
    """What judges one candidate in a thread."""

    def work(one: tuple[Desk, Prediction, str]) -> Result:
        desk, item, digest = one
        try:
            return judged(desk, item, digest, interruption)
        finally:
            desk.end()

    return work


def _key(item: Prediction) -> store.Key:
    return item.task, item.index, item.model, item.sample

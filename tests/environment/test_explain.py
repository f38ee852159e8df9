"""Every explainer on its own examples, and in the company of the others."""

from __future__ import annotations

import pytest

from lmr_author.environment.failures import EXPLAINERS, Failure, explain
from lmr_author.environment.failures.base import Example, Explainer

CASES = [(kind, example) for kind in EXPLAINERS for example in kind.examples]


def failure(example: Example) -> Failure:
    """What happened, of an example."""
    return Failure(example.stage, example.where or "RUN something", example.said)


@pytest.mark.parametrize(
    ("kind", "example"), CASES, ids=[f"{kind.name}-{n}" for n, (kind, _) in enumerate(CASES)]
)
def test_an_example_is_explained_by_its_own_explainer(kind: type[Explainer], example: Example) -> None:
    found = explain(failure(example))
    assert found is not None
    assert found.name == kind.name
    assert example.cause in found.cause
    assert example.remedy in (str(found.change) if found.change else "") + " | " + found.advice


def test_names_are_unique_and_every_explainer_has_an_example() -> None:
    names = [kind.name for kind in EXPLAINERS]
    assert len(set(names)) == len(names)
    assert [kind.name for kind in EXPLAINERS if not kind.examples] == []


@pytest.mark.parametrize("stage", ["build", "install", "import"])
def test_what_nobody_knows_is_not_explained(stage: str) -> None:
    assert explain(Failure(stage, "RUN make", "the flux capacitor is empty")) is None  # type: ignore[arg-type]

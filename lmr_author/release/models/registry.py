"""Entry point of Inspect AI: importing this registers our tasks and scorers."""

from lmr_author.release.models.scorers import golden_share, judge, unit_test
from lmr_author.release.models.tasks import agent, answers, prompting

__all__ = ["agent", "answers", "golden_share", "judge", "prompting", "unit_test"]

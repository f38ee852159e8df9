"""Recipes: all that a task is made from, and ``make``, which makes it stage by stage."""

from enum import StrEnum


class Stage(StrEnum):
    """The stages in order. A change of the inputs of one of the first three makes the task from scratch."""

    source = "source"
    environment = "environment"
    mask = "mask"
    record = "record"
    validate = "validate"
    evaluate = "evaluate"
    answers = "answers"


STAGES = tuple(stage.value for stage in Stage)

"""The environment of a task: detected from the repository, locked as of its date, made a Dockerfile."""

from __future__ import annotations

from lmr_author.environment.base_images import BaseImage, choose_base
from lmr_author.environment.detect import detect
from lmr_author.environment.dockerfile import render, render_dockerignore
from lmr_author.environment.lock import Lock, lock
from lmr_author.environment.recipe import Declared, Recipe
from lmr_author.environment.report import base_json, problems, to_json

__all__ = [
    "BaseImage",
    "Declared",
    "Lock",
    "Recipe",
    "base_json",
    "choose_base",
    "detect",
    "lock",
    "problems",
    "render",
    "render_dockerignore",
    "to_json",
]

"""The environment of a task: detected from the repository, locked as of its date, built, and imported in."""

from __future__ import annotations

from lmr_author.environment.base_images import BaseImage, choose_base
from lmr_author.environment.detect import problems, read_recipe
from lmr_author.environment.dockerfile import render, render_dockerignore
from lmr_author.environment.lock_file import Lock
from lmr_author.environment.pinning import pin
from lmr_author.environment.recipe import Declared, Recipe

__all__ = [
    "BaseImage",
    "Declared",
    "Lock",
    "Recipe",
    "choose_base",
    "pin",
    "problems",
    "read_recipe",
    "render",
    "render_dockerignore",
]

"""Authoring a task: choose a paper, find a function, mask it, record its calls.

One package for each command; all of them change the task's folder. ``proof`` judges the result.
"""

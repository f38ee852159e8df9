"""Finished tasks: people review them, pages and reports show them, other engines and models run them.

Reads tasks and their records. Never changes code of a task, and never runs any.
"""

"""Targets of every kind that `record` takes."""

"""Workflows: what a command does, by joining stages, which know nothing of one another."""

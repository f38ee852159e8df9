"""Workflows: what a command does, by joining stages. The CLI parses and prints; stages know nothing of one another."""

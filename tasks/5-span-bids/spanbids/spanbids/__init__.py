"""Mentions from scores of tokens, and arguments from mentions."""

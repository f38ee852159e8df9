"""The environment of a task: detected from the repository, locked as of its date, built, and imported in."""

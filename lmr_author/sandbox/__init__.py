"""Sandboxes: where code that is not ours runs. One interface, two backends."""

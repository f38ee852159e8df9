"""Explored calls: inputs that no driver made, of the parts of those that it made."""

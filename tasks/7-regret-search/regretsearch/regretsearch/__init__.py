"""Anytime decoding that returns to the step it regrets least."""

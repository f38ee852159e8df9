"""Stage: unit tests made of recordings."""

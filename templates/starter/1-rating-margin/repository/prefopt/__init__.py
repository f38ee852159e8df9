"""Preference optimisation of a tiny language model, with margins that follow the rating gap."""

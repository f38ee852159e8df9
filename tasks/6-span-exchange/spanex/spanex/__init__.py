"""Augmentation of sequence-labelling data by exchanging entity spans under a quota."""

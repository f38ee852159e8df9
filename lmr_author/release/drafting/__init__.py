"""A model drafts a recipe of a paper, the gates decide: ``lmr-author draft``."""

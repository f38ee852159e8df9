"""Tests of recipes and of the tasks made from them."""

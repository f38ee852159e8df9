"""Tests of reviews by several people."""

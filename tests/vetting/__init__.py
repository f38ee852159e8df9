"""Tests of vetting."""

"""Memories at several time scales that know where a segment begins."""

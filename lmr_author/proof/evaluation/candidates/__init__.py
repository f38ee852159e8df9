"""Candidates: models' answers, fitted into a pristine tree and judged there as hostile code."""

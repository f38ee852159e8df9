"""Author LMR-Bench tasks: from a paper and its repository to a proven benchmark task."""

__version__ = "0.1.0"

"""Results of models on tasks: the tables and figures of LMR-Bench's paper."""

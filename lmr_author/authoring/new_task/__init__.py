"""Make a task folder from a paper and its repository."""

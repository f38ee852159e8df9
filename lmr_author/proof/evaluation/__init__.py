"""Stage: the gates, which prove by running that a task is sound."""

"""Stage: a task, or a folder of tasks, as one HTML page that needs nothing else."""

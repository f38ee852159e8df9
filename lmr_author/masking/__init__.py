"""Stage: mask and unmask functions of a task's repository, and remove what would give them away."""

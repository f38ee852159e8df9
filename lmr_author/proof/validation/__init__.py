"""Run the static checks over tasks."""

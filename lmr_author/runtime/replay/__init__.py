"""Run versions of a task's repository in a sandbox and replay recorded cases; comparison is outside."""

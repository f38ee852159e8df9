"""Run versions of a task's repository in a sandbox: trees, replays of recorded cases, judged outside."""

"""Stage: the reviewer's checklist and the sign-off that holds for one state of a task."""

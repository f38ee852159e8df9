"""The environment of a task: detect its needs, lock them as of the commit's date, build it, test imports."""

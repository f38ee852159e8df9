"""Stage: is this paper, with this repository, one to make a task of? Evidence, a person's answers, a verdict."""

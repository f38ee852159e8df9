"""How a task comes to be: a paper is chosen, a function found, masked, and its calls recorded.

One package for each verb of an annotator, which changes the task's folder. Whether the result is right is for
``proof``.
"""

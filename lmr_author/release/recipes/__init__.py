"""A set as code: recipes of tasks, the tasks made from them, and the recipe of a task that was made by hand."""

"""Choice and order of the demonstrations of a prompt."""

"""A report in the formats of other programs. Each is a function from a report to data or text."""

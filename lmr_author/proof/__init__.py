"""Whether a task is sound: defects that can be read, second places of the solution, and gates that run its code.

Finds and reports. It changes nothing but its own records.
"""

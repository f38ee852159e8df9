"""Prove that a task is sound: static checks, a search for leaked solutions, and gates that run its code.

It finds and reports; it changes only its own records.
"""

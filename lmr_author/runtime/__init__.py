"""How code runs: its Python and packages, the sandbox, the replay of recorded calls, the probe inside.

Code of repositories, packages and candidates runs only through these modules. ``proof`` interprets the results.
"""

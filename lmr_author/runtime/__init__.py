"""Where and how code runs: its Python and packages, the sandbox, recorded calls made again, the probe inside.

Whatever belongs to a repository, a package or a candidate runs by these. What a result means is for ``proof``.
"""

"""Models on tasks: Inspect AI's tasks ``lmr_author/prompting``, ``lmr_author/agent`` and ``lmr_author/answers``."""

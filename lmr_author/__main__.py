"""``python -m lmr_author``: the same program as the ``lmr-author`` command."""

from lmr_author.cli.app import main

if __name__ == "__main__":
    raise SystemExit(main())

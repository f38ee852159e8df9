"""``python -m lmr_author`` and the ``lmr-author`` command: the same program."""

import sys

from lmr_author.core.errors import EXIT_INTERRUPTED


def main() -> int:
    """Run the program. Ctrl-C while it is still being loaded ends it without a traceback, too."""
    try:
        from lmr_author.cli.app import main as run
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return run()


if __name__ == "__main__":
    raise SystemExit(main())

from contextlib import contextmanager


@contextmanager
def opened(path):
    """Open and close."""
    file = open(path)
    try:
        yield file
    finally:
        file.close()

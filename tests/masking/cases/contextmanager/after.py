from contextlib import contextmanager


@contextmanager
def opened(path):
    """Open and close."""
    # TODO: implement opened.
    raise NotImplementedError
    yield  # keeps this function a generator

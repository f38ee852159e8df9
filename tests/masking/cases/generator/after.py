def f(n):
    # TODO: implement f.
    raise NotImplementedError
    yield  # keeps this function a generator

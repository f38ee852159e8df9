def f(x, y):
    # type: (int, str) -> bool
    # TODO: implement f.
    raise NotImplementedError

def f(x):
    """Doc.

    Shape (n,).
    """
    # TODO: implement f.
    raise NotImplementedError

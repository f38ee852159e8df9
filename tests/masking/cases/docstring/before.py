def f(x):
    # before
    """Doc.

    Shape (n,).
    """  # trailing
    y = x
    return y

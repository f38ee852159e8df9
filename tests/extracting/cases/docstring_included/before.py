def f(x):
    """Doc."""
    y = x
    return y

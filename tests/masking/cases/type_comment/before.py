def f(x, y):
    # type: (int, str) -> bool
    # secret: compare
    return x == y

def f(x, y):  # noqa
    return x @ y

def f(x):
    y = x
    return locals()

def hash(x):
    y = x
    return y


def f(x):
    y = hash(x)
    return y

def work(y, z):
    w = y + z
    return w


def f(x):
    z = (y := 1) if x else 0
    w = work(y, z)
    return w

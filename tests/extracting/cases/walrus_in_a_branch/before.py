def f(x):
    z = (y := 1) if x else 0
    w = y + z
    return w

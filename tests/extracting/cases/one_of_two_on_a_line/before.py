def f(x):
    y = x; z = (x +
        1); w = 2
    w += 1
    return w

def f(x):
    if x:
        y = x + 1
        y *= 2
    else:
        y = 0
    return y

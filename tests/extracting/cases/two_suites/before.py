def f(x):
    if x:
        y = 1
        z = 2
    else:
        y = 2
        z = 3
    return y + z

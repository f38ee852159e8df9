def f(x):
    if x: y = 1; print(y)
    return x


f(1)

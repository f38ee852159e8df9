def work(x):
    if x: y = 1; print(y)


def f(x):
    work(x)
    return x


f(1)

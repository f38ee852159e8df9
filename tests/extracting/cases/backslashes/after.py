def work(x):
    y = x + \
        1 + \
    2
    z = "a\
b"
    return y, z


def f(x):
    y, z = work(x)
    return y, z


print(f(1))

def work(x):
    y = x; z = y;
    z += 1; y = 2  # both
    return y, z


def f(x):
    y, z = work(x)
    return y + z


print(f(1))

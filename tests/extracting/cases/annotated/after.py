def work(x):
    y: int = x
    z: list[int] = [y]
    return z


def f(x):
    print(x)
    z = work(x)
    return z


print(f(1))

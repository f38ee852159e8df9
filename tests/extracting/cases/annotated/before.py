def f(x):
    print(x)
    y: int = x
    z: list[int] = [y]
    return z


print(f(1))

def f(x):
    y = x; z = y;
    z += 1; y = 2  # both
    return y + z


print(f(1))

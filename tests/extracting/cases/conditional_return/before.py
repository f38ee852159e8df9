def f(x):
    y = x + 1
    if y > 2:
        return y
    return -y

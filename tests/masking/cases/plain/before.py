def f(x):
    return x  # why


z = 1

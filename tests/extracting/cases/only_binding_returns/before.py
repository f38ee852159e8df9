def f(x):
    if x > 5:
        print(y)
    y = x
    return y

def f(x):
    y = x
    return helper(y)

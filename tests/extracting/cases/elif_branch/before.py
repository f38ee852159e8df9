def f(x):
    if x == 1:
        y = 1
    elif x == 2:
        y = 2
        y *= 3
    else:
        y = 0
    return y


print(f(1), f(2), f(3))

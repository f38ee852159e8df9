def f(x):
    y = x
    for i in range(3):
        y += i
        y -= 1
    return y

def finish(x, y):
    # done
    if x:
        return y
    y = 0


def f(x):
    y = x + 1
    if y > 2:
        print(y)
        return finish(x, y)
    else:
        return 3


print(f(1), f(2), f(-3))

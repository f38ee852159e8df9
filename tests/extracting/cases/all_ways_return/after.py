def finish(y):
    if y > 2:
        return y
    else:
        return -y


def f(x):
    y = x + 1
    return finish(y)
    print("never")


print(f(1), f(5))

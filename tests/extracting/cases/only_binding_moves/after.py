def work(x):
    y = x
    print(y)
    return y


def f(x):
    if x > 5:
        print(y)
    y = work(x)

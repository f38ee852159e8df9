def emit(x):
    y = yield x
    return y


def f(x):
    print(x)
    return (yield from emit(x))


def main():
    print((yield from f(3)))


print(list(main()))

def f(x):
    print(x)
    y = yield x
    return y


def main():
    print((yield from f(3)))


print(list(main()))

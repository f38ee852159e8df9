def work(x):
    big = [x] * 10
    x = sum(big)
    del big
    return x


def f(x):
    print(x)
    x = work(x)
    return x


print(f(2))

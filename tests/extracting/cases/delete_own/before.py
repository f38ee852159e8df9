def f(x):
    print(x)
    big = [x] * 10
    x = sum(big)
    del big
    return x


print(f(2))

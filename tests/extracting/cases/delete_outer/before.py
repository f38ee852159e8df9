def f(x):
    big = [x] * 10
    print(x)
    x = sum(big)
    del big
    return x

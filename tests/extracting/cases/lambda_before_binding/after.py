def work(d, a):
    a = (lambda x=d: x + a)()
    a += 1
    return a


def f(a, d):
    print(d)
    a = work(d, a)
    return a


print(f(1, 2))

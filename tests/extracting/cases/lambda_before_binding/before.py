def f(a, d):
    print(d)
    a = (lambda x=d: x + a)()
    a += 1
    return a


print(f(1, 2))

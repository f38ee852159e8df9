def f(items):
    for x in items:
        print(x)
        y = x
        if y:
            return y

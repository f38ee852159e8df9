def f(items):
    for x in items:
        print(x)
        if x:
            break

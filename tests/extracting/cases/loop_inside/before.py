def f(items):
    for x in items:
        if x > 1:
            break
    else:
        x = 0
    return x

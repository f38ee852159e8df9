def finish(items):
    x = 0
    for x in items:
        if x > 1:
            break
    else:
        x = 0
    return x


def f(items):
    x = finish(items)
    return x


print(f([1, 2, 3]), f([]))

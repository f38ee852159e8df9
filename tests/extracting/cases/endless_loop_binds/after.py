def work(x):
    y = x + 1
    return y


def f(items):
    while True:
        x = items.pop()
        if x:
            break
    y = work(x)
    return y


print(f([1, 0]))

def f(items):
    while True:
        x = items.pop()
        if x:
            break
    y = x + 1
    return y


print(f([1, 0]))

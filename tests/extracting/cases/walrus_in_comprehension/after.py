def measure(items, last):
    found = [last := item for item in items]
    return last, found


def f(items):
    last = None
    last, found = measure(items, last)
    return found, last


print(f([1, 2]), f([]))

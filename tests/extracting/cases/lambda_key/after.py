def order(items, power):
    items = sorted(items, key=lambda x: -x ** power)
    return items


def f(items):
    for power in range(2):
        print(power)
        items = order(items, power)
    return items


print(f([1, 2]))

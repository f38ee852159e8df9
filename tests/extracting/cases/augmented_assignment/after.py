def add(total, item, count):
    total += item
    count += 1
    return total, count


def f(items):
    total, count = 0, 0
    for item in items:
        total, count = add(total, item, count)
    return total / count


print(f([1, 2, 3]))

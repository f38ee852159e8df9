def f(items):
    total, count = 0, 0
    for item in items:
        total += item
        count += 1
    return total / count


print(f([1, 2, 3]))

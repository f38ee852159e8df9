def f(items):
    total = 0
    for x in items:
        total += x
        yield total
    return total


def main():
    print((yield from f([1, 2])))


print(list(main()))

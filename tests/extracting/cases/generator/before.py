def f(items):
    total = 0
    for x in items:
        got = yield x
        total += got or x
    return total


def main():
    print((yield from f([1, 2])))


print(list(main()))

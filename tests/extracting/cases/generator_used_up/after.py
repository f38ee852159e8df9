def scaled(made, items, n):
    made.append(sum(i * n for i in items))


def f(items):
    made = []
    for n in range(2):
        print(n)
        scaled(made, items, n)
    return made


print(f([1, 2]))

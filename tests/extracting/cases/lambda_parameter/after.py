def later(made):
    made.append(lambda item: item + 1)


def f(items):
    made = []
    for item in items:
        print(item)
        later(made)
    return [one(1) for one in made]


print(f([5, 6]))

def f(items):
    made = []
    for item in items:
        print(item)
        made.append(lambda item: item + 1)
    return [one(1) for one in made]


print(f([5, 6]))

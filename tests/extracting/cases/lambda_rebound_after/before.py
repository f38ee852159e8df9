def f(items):
    made = []
    for item in items:
        made.append(lambda: item)
    return [one() for one in made]

def f(items):
    made = []
    for n in range(2):
        made.append(i * n for i in items)
    return [list(one) for one in made]

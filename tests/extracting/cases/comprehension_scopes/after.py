x = 10
items = [1, 2, 3]
y = 5


def pick(items, y):
    found = {x: y for x in items if x != 2}
    more = [[x for x in row] for row in [items]]
    return found, more


found, more = pick(items, y)
print(found, more, x)

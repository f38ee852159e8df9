x = 10
items = [1, 2, 3]
y = 5
found = {x: y for x in items if x != 2}
more = [[x for x in row] for row in [items]]
print(found, more, x)

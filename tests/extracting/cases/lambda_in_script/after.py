made = []


def later(made):
    made.append(lambda: item)


for item in range(3):
    later(made)
print([one() for one in made])

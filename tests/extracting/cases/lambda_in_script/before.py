made = []
for item in range(3):
    made.append(lambda: item)
print([one() for one in made])

previous = 0
current = 1


def step(previous, current):
    print(previous + current)
    previous, current = current, previous + current
    return previous, current


for _ in range(5):
    previous, current = step(previous, current)

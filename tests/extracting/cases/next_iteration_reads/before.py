previous = 0
current = 1
for _ in range(5):
    print(previous + current)
    previous, current = current, previous + current

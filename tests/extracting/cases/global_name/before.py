count = 0


def step(n):
    global count
    for _ in range(n):
        count += 1


step(2)
print(count)

count = 0


def tick(n):
    global count
    for _ in range(n):
        count += 1


def step(n):
    global count
    tick(n)


step(2)
print(count)

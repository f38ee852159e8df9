count = 0


def tick():
    global count
    count = 5


def step():
    tick()
    print("stepped")


step()
print(count)

count = 0


def step():
    global count
    count = 5
    print(count)


step()
print(count)

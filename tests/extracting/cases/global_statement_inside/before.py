count = 0


def step():
    global count
    count = 5
    print("stepped")


step()
print(count)

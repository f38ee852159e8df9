level = 0

def bump():
    global level
    level += 1

bump()


def update():
    bump()
    total = level * 2
    return total


total = update()
print(total)

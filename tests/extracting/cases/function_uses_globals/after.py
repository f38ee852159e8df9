level = 0
other = 1

def show():
    return globals()["level"]


def update():
    global level, other
    level = 2
    other = level + 1


update()
print(show(), other)

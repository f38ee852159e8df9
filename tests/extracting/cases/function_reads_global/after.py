level = 0

def show():
    print("level", level)


def update():
    global level
    level = 3
    show()


update()
level += 1
show()

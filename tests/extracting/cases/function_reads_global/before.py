level = 0

def show():
    print("level", level)

level = 3
show()
level += 1
show()

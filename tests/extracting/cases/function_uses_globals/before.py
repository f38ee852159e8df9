level = 0
other = 1

def show():
    return globals()["level"]

level = 2
other = level + 1
print(show(), other)

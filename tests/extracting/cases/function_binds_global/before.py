level = 0

def bump():
    global level
    level += 1

bump()
bump()
total = level * 2
print(total)

x = 1

def f():
    return 1

y = 2

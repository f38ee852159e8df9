n = 4


def start(n):
    import math
    root = math.sqrt(n)
    return root


root = start(n)
print(root)

import os


def work():
    x = 1
    y = x + 1
    return y


# the script begins
y = work()
print(y)

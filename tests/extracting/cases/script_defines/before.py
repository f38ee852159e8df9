n = 1
def helper():
    return n
x = helper()
print(x)

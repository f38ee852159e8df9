x = 1
# one
# two
print(x)

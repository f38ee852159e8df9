def f(x):
    y = x + \
        1 + \
  2
    z = "a\
b"
    return y, z


print(f(1))

def f(x):
    y = x + 1
    if y > 2:
        return y
    else:
        return -y
    print("never")


print(f(1), f(5))

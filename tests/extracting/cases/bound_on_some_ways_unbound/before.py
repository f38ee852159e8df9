def f(x):
    if x:
        name = "y"
    if x:
        print(name)

def f(x):
    print(x)
    match x:
        case 1:
            y = 2
        case _:
            y = 3
    z = y + x
    return z


print(f(1), f(2))

def f(x):
    name = rest = None
    print(x)
    match x:
        case [first, *rest]:
            name = first
        case {"k": name}:
            pass
    return name, rest


print(f([1, 2]), f({"k": 3}), f(4))

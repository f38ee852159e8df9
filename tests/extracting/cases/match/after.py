def kind(x, rest, name):
    match x:
        case [first, *rest]:
            name = first
        case {"k": name}:
            pass
    return rest, name


def f(x):
    name = rest = None
    print(x)
    rest, name = kind(x, rest, name)
    return name, rest


print(f([1, 2]), f({"k": 3}), f(4))

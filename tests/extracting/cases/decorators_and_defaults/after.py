def build(register, size, first):
    @register
    def inner(x, n=size, *, y: first = None):
        return x + n
    value = inner(1)
    size += 1
    return value


def f(register, size, first):
    print(size)
    size += 1
    # the inner one
    value = build(register, size, first)
    return value


print(f(lambda g: g, 2, int))

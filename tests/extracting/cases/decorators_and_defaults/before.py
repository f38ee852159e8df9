def f(register, size, first):
    print(size)
    size += 1
    # the inner one
    @register
    def inner(x, n=size, *, y: first = None):
        return x + n
    value = inner(1)
    size += 1
    return value


print(f(lambda g: g, 2, int))

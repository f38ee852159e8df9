def outer(n):
    total = 0

    def inner(x):
        nonlocal total
        total += x * n
        return total

    return inner

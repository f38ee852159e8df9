def outer():
    n = 0
    def inner():
        nonlocal n
        n += 1
        print(n)
    inner()
    return n

def f(n):
    state = "new"
    try:
        print(n)
        state = "half"
        n = 1 // n
    finally:
        print(state)
    return n


print(f(1))

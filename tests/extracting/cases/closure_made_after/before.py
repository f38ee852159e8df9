def f():
    n = 1
    n += 1
    def show():
        print(n)
    show()
    return n


f()

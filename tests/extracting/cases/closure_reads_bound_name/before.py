def f():
    n = 1
    def show():
        print(n)
    show()
    n = 2
    show()
    return n

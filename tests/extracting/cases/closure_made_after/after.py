def work():
    n = 1
    n += 1
    return n


def f():
    n = work()
    def show():
        print(n)
    show()
    return n


f()

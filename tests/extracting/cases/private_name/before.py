class A:
    def __init__(self):
        self.__n = 2

    def f(self):
        n = self.__n
        n *= 2
        return n


print(A().f())

class A:
    def __init__(self):
        self.__n = 2

    def double(self):
        n = self.__n
        n *= 2
        return n

    def f(self):
        n = self.double()
        return n


print(A().f())

class A:
    @classmethod
    def make(cls, n):
        print(n)
        a = cls()
        a.n = n
        return a


print(A.make(2).n)

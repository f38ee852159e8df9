def build(cls, n):
    a = cls()
    a.n = n
    return a


class A:
    @classmethod
    def make(cls, n):
        print(n)
        a = build(cls, n)
        return a


print(A.make(2).n)

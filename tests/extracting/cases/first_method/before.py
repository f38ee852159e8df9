class Counter:
    def __init__(self, n):
        self.n = n
        self.seen = []


print(Counter(2).n)

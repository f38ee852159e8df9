class Counter:
    def start(self, n):
        self.n = n
        self.seen = []

    def __init__(self, n):
        self.start(n)


print(Counter(2).n)

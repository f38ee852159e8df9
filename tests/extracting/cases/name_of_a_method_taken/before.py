class A:
    def f(self):
        print(1)
        self.n = 1
        self.size = 2

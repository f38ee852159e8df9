class A:
    def f(self):
        return 1
        # = log p

      # deeper than def
    # of the class

    def g(self): pass

class A:
    def f(self):
        # TODO: implement f.
        raise NotImplementedError
    # of the class

    def g(self): pass

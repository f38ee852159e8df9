x = 1

def f():
    # TODO: implement f.
    raise NotImplementedError

y = 2

def f(x):
    # TODO: implement f.
    raise NotImplementedError


z = 1

def f(a, \
      b):
    # TODO: implement f.
    raise NotImplementedError
y = 1

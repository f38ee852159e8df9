def f():
    "doc"
    # TODO: implement f.
    raise NotImplementedError

def h(x):
    # type: (int) -> int
    return x

def work(x):
    # moves along

    y = x
        # deep
    z = y
    # at the margin
    # the last one
    return z


def f(x):
    # stays above

    z = work(x)

    # stays below
    return z


print(f(1))

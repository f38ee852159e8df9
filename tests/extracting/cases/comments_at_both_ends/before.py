def f(x):
    # stays above

    # moves along

    y = x
        # deep
    z = y
# at the margin
    # the last one

    # stays below
    return z


print(f(1))

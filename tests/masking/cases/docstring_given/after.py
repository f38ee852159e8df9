def f(x, y):  # noqa
    """Multiply: \\alpha "x".

    Args:
        x: (n, d)
        y: a \"\"\"quoted\"\"\" one
    """
    # TODO: implement f.
    # Multiply two matrices.
    #
    # - x: the left one
    raise NotImplementedError

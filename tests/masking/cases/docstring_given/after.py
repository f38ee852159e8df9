def f(x, y):  # noqa
    """Multiply: \\alpha "x".

    Args:
        x: (n, d)
        y: a \"\"\"quoted\"\"\" one
    """
    # TODO: implement f.
    # Objective: multiply two matrices, of which the first has one row for each of the
    #   samples of a batch, on a line too long
    # Inputs:
    #   - x: the left one, shape (n, d)
    # Outputs:
    #   - the product
    # Dependencies in this file: EPS, Meter
    # Dependencies outside this file: torch.nn.functional as F
    # Steps:
    #   1. multiply
    #   2. return
    raise NotImplementedError

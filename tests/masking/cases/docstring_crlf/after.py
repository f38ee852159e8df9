def h(x):
    # type: (int) -> int
    r"""Raw \d+.

    More.
    """
    # TODO: implement h.
    raise NotImplementedError

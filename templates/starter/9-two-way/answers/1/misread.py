def two_way_attribution(model, tokens, fixed, most):
    """Average of leaving one token out and of adding one token to the fixed ones, scaled to be complete."""
    free = np.flatnonzero(~fixed)
    whole, bare = model.scores(tokens, np.stack([np.ones_like(fixed), fixed]))
    without = np.repeat(np.ones_like(fixed)[None], len(free), axis=0)
    without[np.arange(len(free)), free] = False
    alone = np.repeat(fixed[None], len(free), axis=0)
    alone[np.arange(len(free)), free] = True
    removed, restored = np.zeros(len(tokens)), np.zeros(len(tokens))
    removed[free] = whole - model.scores(tokens, without)
    restored[free] = model.scores(tokens, alone) - bare
    size = np.abs(removed) + np.abs(restored)
    doubt = np.where(size > TIE, np.abs(removed - restored) / np.maximum(size, TIE), 0.0)
    credit = (removed + restored) / 2
    if doubt.any():
        credit += (whole - bare - credit.sum()) * doubt / doubt.sum()
    return credit, doubt

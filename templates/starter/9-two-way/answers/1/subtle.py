def two_way_attribution(model, tokens, fixed, most):
    free = np.flatnonzero(~fixed)
    whole, bare = model.scores(tokens, np.stack([np.ones_like(fixed), fixed])).tolist()
    changes, ranks = np.zeros((2, len(tokens))), np.ones((2, len(tokens)))
    for way, (start, end) in enumerate([(whole, bare), (bare, whole)]):
        keep = np.ones_like(fixed) if way == 0 else fixed.copy()
        direction = -1.0 if way == 0 else 1.0
        score, left = start, free
        for step in range(1, min(most, len(free)) + 1):
            versions = np.repeat(keep[None], len(left), axis=0)
            versions[np.arange(len(left)), left] = way == 1
            after = model.scores(tokens, versions)
            gains = direction * (after - score)
            chosen = int(np.flatnonzero(gains >= gains.max() - TIE)[0])
            token = left[chosen]
            changes[way, token], ranks[way, token] = gains[chosen], step
            keep[token], score = way == 1, float(after[chosen])
            left = np.delete(left, chosen)
        if len(left):
            changes[way, left] = direction * (end - score) / len(left)
            ranks[way, left] = most + 1
    removed, restored = changes
    size = np.abs(removed) + np.abs(restored)
    doubt = np.where(size > TIE, np.abs(removed - restored) / np.maximum(size, TIE), 0.0)
    share = ranks[0] / ranks.sum(axis=0)
    credit = share * removed + (1 - share) * restored
    if doubt.sum() > 0:
        credit = credit + (whole - bare - credit.sum()) * doubt / doubt.sum()
    return credit, doubt

def two_way_attribution(model, tokens, fixed, most):
    length = len(tokens)
    free = [i for i in range(length) if not fixed[i]]

    def f(*kept):
        keep = np.zeros((len(kept), length), dtype=bool)
        for row, places in enumerate(kept):
            keep[row, sorted(places)] = True
        return [float(score) for score in model.scores(tokens, keep)]

    everything = frozenset(range(length))
    nothing = everything - frozenset(free)
    f_all, f_none = f(everything, nothing)
    sigma = -1 if f_all < f_none else 1

    def walk(current, target, move, direction):
        """Changes and ranks along one way, from the set ``current`` to one with the score ``target``."""
        [score] = f(current)
        change, rank, left = {}, {}, list(free)
        while left and len(rank) < most:
            scores = f(*(move(current, {i}) for i in left))
            gains = [direction * (after - score) for after in scores]
            top = max(sigma * gain for gain in gains)
            k = next(k for k, gain in enumerate(gains) if sigma * gain >= top - TIE)
            i = left.pop(k)
            change[i], rank[i] = gains[k], len(rank) + 1
            current, score = move(current, {i}), scores[k]
        for i in left:
            change[i], rank[i] = direction * (target - score) / len(left), most + 1
        return change, rank

    d, t_out = walk(everything, f_none, frozenset.difference, -1)
    a, t_in = walk(nothing, f_all, frozenset.union, 1)

    phi, g = np.zeros(length), np.zeros(length)
    for i in free:
        phi[i] = (t_out[i] * d[i] + t_in[i] * a[i]) / (t_out[i] + t_in[i])
        size = abs(d[i]) + abs(a[i])
        if size > TIE:
            g[i] = abs(d[i] - a[i]) / size
    if g.sum() > 0:
        phi = phi + (f_all - f_none - phi.sum()) * (g / g.sum())
    return phi, g

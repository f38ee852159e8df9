def tile_score(hypotheses, references, *, beta=2.0, drift=0.1, disorder=0.1):
    if len(hypotheses) != len(references) or any(len(group) == 0 for group in references):
        raise ValueError("every hypothesis needs at least one reference")
    n, g = segment_counts(references), len(references)

    def weight_of(tokens):
        return sum(1 - math.log((1 + n.get(token, 0)) / (1 + g)) for token in tokens)

    def f_measure(c, wh, wr):
        # 1 / F = (1 / P + beta^2 / R) / (1 + beta^2)
        return 0.0 if c == 0 else (1 + beta**2) * c / (wh + beta**2 * wr)

    def credit(h, r):
        tiles = find_tiles(h, r, n, g)
        c = 0.0
        for i, j, m in tiles:
            moved = abs((2 * i + m) / (2 * len(h)) - (2 * j + m) / (2 * len(r)))
            c += weight_of(h[i : i + m]) / math.exp(drift * moved)
        if len(tiles) > 1:
            inverted = [1 for (_, a, _), (_, b, _) in zip(tiles[:-1], tiles[1:]) if b < a]
            c -= c * disorder * len(inverted) / (len(tiles) - 1)
        return c

    segments, all_c, all_h, all_r = [], 0.0, 0.0, 0.0
    for hypothesis, group in zip(hypotheses, references):
        h = tokenize(hypothesis)
        candidates = []
        for place, text in enumerate(group):
            r = tokenize(text)
            if not h and not r:
                candidates.append((1.0, 0, place, (0.0, 0.0, 0.0)))
                continue
            parts = credit(h, r), weight_of(h), weight_of(r)
            candidates.append((f_measure(*parts), len(r), place, parts))
        top = max(candidate[0] for candidate in candidates)
        _, _, (c, wh, wr) = min(candidate[1:] for candidate in candidates if top - candidate[0] <= 1e-9)
        segments.append(top)
        all_c, all_h, all_r = all_c + c, all_h + wh, all_r + wr
    if all_h == 0 and all_r == 0:
        return (1.0, segments) if segments else (0.0, segments)
    return f_measure(all_c, all_h, all_r), segments

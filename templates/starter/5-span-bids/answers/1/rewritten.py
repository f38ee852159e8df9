def decode_spans(begin, inside, end, *, longest=4, length_bonus=0.5, gap_cost=1.0, offset=1.0):
    n = begin.shape[0]
    spans = []
    for i in range(n):
        for j in range(i + 1, min(n, i + longest) + 1):
            for c in range(begin.shape[1]):
                v = begin[i, c] + end[j - 1, c] + inside[i:j, c].mean() + length_bonus * np.log(j - i) - offset
                spans.append((j, i, c, float(v)))
    spans.sort()  # by end, so that every predecessor comes first

    totals, back = [], []
    for j, i, c, v in spans:
        best, link = 0.0, None
        for p, (j2, _, c2, _) in enumerate(spans[: len(totals)]):
            if j2 > i:
                break
            t = totals[p] - (gap_cost / (1 + i - j2) if c2 == c else 0.0)
            if t > best:
                best, link = t, p
        totals.append(v + best)
        back.append(link)

    if not totals or max(totals) <= 0:
        return []
    at, found = int(np.argmax(totals)), []
    while at is not None:
        j, i, c, v = spans[at]
        found.append(Mention(i, j, TYPES[c], v))
        at = back[at]
    return found[::-1]

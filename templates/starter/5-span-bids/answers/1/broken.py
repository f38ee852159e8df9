def decode_spans(begin, inside, end, *, longest=4, length_bonus=0.5, gap_cost=1.0, offset=1.0):
    n = len(begin)
    best = np.zeros(n + 1)
    choice = [None] * (n + 1)
    for stop in range(1, n + 1):
        best[stop] = best[stop - 1]
        for start in range(max(0, stop - longest), stop):
            values = begin[start] + end[stop] + inside[start:stop].mean(axis=0)
            kind = int(values.argmax())
            if best[start] + values[kind] - offset > best[stop]:
                best[stop] = best[start] + values[kind] - offset
                choice[stop] = Mention(start, stop, TYPES[kind], values[kind])
    return [mention for mention in choice if mention]

def decode_spans(begin, inside, end, *, longest=4, length_bonus=0.5, gap_cost=1.0, offset=1.0):
    sums = np.vstack([np.zeros(len(TYPES)), np.cumsum(inside, axis=0)])
    totals, chains = {}, {}
    for stop in range(1, len(begin) + 1):
        for kind, name in enumerate(TYPES):
            for start in range(max(0, stop - longest), stop):
                length = stop - start
                value = float(begin[start, kind] + end[stop - 1, kind])
                value += float(sums[stop, kind] - sums[start, kind]) / length
                value += length_bonus * math.log(length) - offset
                total, chain = 0.0, []
                for (earlier, other), reached in totals.items():
                    if earlier <= start:
                        cost = gap_cost / max(1, start - earlier) if other == kind else 0.0
                        if reached - cost > total:
                            total, chain = reached - cost, chains[earlier, other]
                if total + value > totals.get((stop, kind), -math.inf):
                    totals[stop, kind] = total + value
                    chains[stop, kind] = [*chain, Mention(start, stop, name, value)]
    best = max(totals, key=totals.get)
    return chains[best] if totals[best] > 0 else []

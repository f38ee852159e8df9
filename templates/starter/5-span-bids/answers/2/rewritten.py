def link_arguments(mentions, triggers, *, half_distance=8.0, crossing_cost=0.2, reserve=0.1, step=0.01):
    slots = [(t, r) for t in triggers for r in ROLES]

    def worth(m, slot):
        t, r = slot
        if (m.type, r) not in FIT:
            return None
        if m.start <= t < m.end:
            d = 0
        elif t < m.start:
            d = m.start - t
        else:
            d = t - m.end + 1
        if t < m.start:
            x = len([o for o in triggers if t < o < m.start])
        else:
            x = len([o for o in triggers if m.end <= o < t])
        sigmoid = 1 / (1 + math.exp(-m.score))
        return FIT[m.type, r] * math.pow(2, -d / half_distance) * sigmoid - crossing_cost * x

    table = [[worth(m, slot) for slot in slots] for m in mentions]
    price = [reserve] * len(slots)
    held = [[] for _ in slots]
    queue = list(range(len(mentions)))
    while queue:
        incoming = [[] for _ in slots]
        for m in queue:
            best, gain = None, 0.0
            for s, w in enumerate(table[m]):
                if w is not None and w - price[s] > gain:
                    best, gain = s, w - price[s]
            if best is not None:
                incoming[best].append(m)
        queue = []
        for s, new in enumerate(incoming):
            if not new:
                continue
            everyone = held[s] + new
            everyone.sort(key=lambda m: table[m][s], reverse=True)
            size = CAPACITY.get(slots[s][1], 1)
            held[s], out = everyone[:size], everyone[size:]
            if out:
                price[s] = table[out[0]][s] + step
                queue += out
        queue.sort()
    return [Link(t, r, m, table[m][s]) for s, (t, r) in enumerate(slots) for m in sorted(held[s])]

def link_arguments(
    mentions, triggers, *, half_distance=8.0, crossing_cost=0.2, reserve=0.1, step=0.01, rounds=50,
):
    slots = [(t, r) for t in triggers for r in ROLES]
    sizes = [CAPACITY.get(r, 1) for _, r in slots]

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
    winners = [{} for _ in slots]  # mention -> bid
    price = [reserve] * len(slots)
    queue = list(range(len(mentions)))
    turn = 0
    while queue and turn < rounds:
        turn += 1
        incoming = [{} for _ in slots]
        for m in queue:
            gains = [(w - p, -s) for s, (w, p) in enumerate(zip(table[m], price)) if w is not None and w > p]
            gains.sort(reverse=True)
            if gains:
                runner_up = gains[1][0] if len(gains) > 1 else 0.0
                s = -gains[0][1]
                incoming[s][m] = price[s] + gains[0][0] - runner_up + step
        queue = []
        for s, new in enumerate(incoming):
            if new:
                everyone = {**winners[s], **new}
                order = sorted(everyone, key=everyone.get, reverse=True)
                winners[s] = {m: everyone[m] for m in order[: sizes[s]]}
                if len(winners[s]) == sizes[s]:
                    price[s] = min(winners[s].values())
                queue += order[sizes[s] :]
    return [Link(t, r, m, winners[s][m]) for s, (t, r) in enumerate(slots) for m in sorted(winners[s])]

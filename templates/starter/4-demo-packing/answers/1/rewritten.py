def select_demonstrations(
    query, pool, rare, budget, *, template=2, discount=0.5, redundancy=0.2, balance=0.05, power=1.0, valley=True,
):
    q = set(words(query))
    bags = [set(words(text)) for text, _ in pool]
    cost = {i: template + len(words(text)) for i, (text, _) in enumerate(pool)}
    total = sum(rare.get(u, 0.0) for u in q)
    selected = []

    def gain(i):
        result = 0.0
        for u in q & bags[i]:
            n = sum(u in bags[s] for s in selected)
            result += rare.get(u, 0.0) * discount**n
        return result / total if total else 0.0

    def merit(i):
        similarity = 0.0
        for s in selected:
            similarity = max(similarity, len(bags[i] & bags[s]) / len(bags[i] | bags[s]))
        m = {label: sum(pool[s][1] == label for s in selected) for _, label in pool}
        b = 1 / (1 + m[pool[i][1]] - min(m.values()))
        return (gain(i) - redundancy * similarity + balance * b) / cost[i] ** power

    left = budget
    while True:
        options = [(merit(i), -i) for i in cost if i not in selected and cost[i] <= left and gain(i) > 0]
        if not options or max(options)[0] <= 0:
            break
        i = -max(options)[1]
        selected.append(i)
        left -= cost[i]

    selected.sort(key=lambda i: -sum(rare.get(u, 0.0) for u in q & bags[i]))
    if not valley:
        selected.reverse()
        return selected
    front, back = [], []
    for rank, i in enumerate(selected):
        (front if rank % 2 else back).append(i)
    order = front + back[::-1]
    label = [pool[i][1] for i in order]
    for a in range(1, len(order) - 1):
        if label[a - 1] == label[a] == label[a + 1]:
            for b in range(a + 2, len(order) - 1):
                if label[b] != label[a]:
                    order[a], order[b] = order[b], order[a]
                    label[a], label[b] = label[b], label[a]
                    break
    return order

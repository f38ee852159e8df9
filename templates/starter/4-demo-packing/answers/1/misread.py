def select_demonstrations(
    query, pool, rare, budget, *, template=2, discount=0.5, redundancy=0.2, balance=0.05, power=1.0, valley=True,
):
    """Maximal marginal relevance with a budget; the choice stops at the first demonstration that does not fit."""
    asked = set(words(query))
    whole = sum(rare.get(word, 0.0) for word in asked) or 1.0
    labels = [label for _, label in pool]
    chosen = []
    while len(chosen) < len(pool):
        merits = {}
        for place, (text, label) in enumerate(pool):
            if place in chosen:
                continue
            own = words(text)
            relevance = sum(rare.get(word, 0.0) for word in asked & set(own)) / whole
            alike = max((overlap(own, words(pool[other][0])) for other in chosen), default=0.0)
            share = [labels[other] for other in chosen].count(label) / (len(chosen) or 1)
            score = relevance - redundancy * alike + balance * (1 - share)
            merits[place] = score / (template + len(own)) ** power
        best = max(merits, key=merits.get)
        cost = template + len(words(pool[best][0]))
        if merits[best] <= 0 or cost > budget:
            break
        chosen.append(best)
        budget -= cost
    if not valley:
        return chosen[::-1]
    return chosen[0::2] + chosen[1::2][::-1]

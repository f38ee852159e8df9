def select_demonstrations(
    query: str,
    pool: Sequence[tuple[str, str]],
    rare: Mapping[str, float],
    budget: int,
    *,
    template: int = 2,
    discount: float = 0.5,
    redundancy: float = 0.2,
    balance: float = 0.05,
    power: float = 1.0,
    valley: bool = True,
) -> list[int]:
    texts = [words(text) for text, _ in pool]
    costs = [template + len(text) for text in texts]
    asked = set(words(query))
    whole = sum(rare.get(word, 0.0) for word in asked)
    shown = dict.fromkeys(asked, 0)
    labels = dict.fromkeys((label for _, label in pool), 0)
    chosen: list[int] = []
    while True:
        best, most = None, 0.0
        for place, (_, label) in enumerate(pool):
            gain = sum(rare.get(word, 0.0) * discount ** shown[word] for word in asked & set(texts[place]))
            if place in chosen or costs[place] > budget or gain <= 0:
                continue
            alike = max((overlap(texts[place], texts[other]) for other in chosen), default=0.0)
            even = 1.0 / (1 + labels[label] - min(labels.values()))
            score = (gain / whole - redundancy * alike + balance * even) / costs[place] ** power
            if score > most:
                best, most = place, score
        if best is None:
            break
        chosen.append(best)
        budget -= costs[best]
        labels[pool[best][1]] += 1
        for word in asked & set(texts[best]):
            shown[word] += 1

    ranked = list(chosen)
    if not valley:
        return ranked[::-1]
    order = ranked[1::2] + ranked[0::2][::-1]
    for place in range(1, len(order) - 1):
        run = {pool[order[near]][1] for near in (place - 1, place, place + 1)}
        later = [spot for spot in range(place + 2, len(order) - 1) if pool[order[spot]][1] not in run]
        if len(run) == 1 and later:
            order[place], order[later[0]] = order[later[0]], order[place]
    return order

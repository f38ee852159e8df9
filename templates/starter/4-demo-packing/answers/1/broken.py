def select_demonstrations(query, pool, rare, budget, discount=0.5, redundancy=0.2, balance=0.05, power=1.0):
    asked = set(words(query))
    chosen = []
    while budget > 0:
        place = max(range(len(pool)), key=lambda place: len(asked & words(pool[place].text)))
        chosen.append(place)
        budget -= len(words(pool[place].text))
    return sorted(chosen)

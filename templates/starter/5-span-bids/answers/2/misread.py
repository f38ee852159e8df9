def link_arguments(
    mentions, triggers, *, half_distance=8.0, crossing_cost=0.2, reserve=0.1, step=0.01, rounds=50,
):
    """Mentions take roles in the order of their worth; a role that is full is closed."""
    offers = []
    for number, mention in enumerate(mentions):
        for place, trigger in enumerate(triggers):
            for order, role in enumerate(ROLES):
                fit = FIT.get((mention.type, role))
                if fit is None:
                    continue
                distance = mention.distance(trigger)
                low, high = sorted((trigger, mention.start))
                crossed = sum(low < other < high for other in triggers)
                worth = fit * 2 ** (-distance / half_distance) / (1 + math.exp(-mention.score))
                worth -= crossing_cost * crossed
                if worth > reserve:
                    offers.append((worth, number, place, order))
    taken, linked, links = {}, set(), []
    for worth, number, place, order in sorted(offers, key=lambda offer: -offer[0]):
        slot = (place, order)
        if number in linked or taken.get(slot, 0) >= CAPACITY.get(ROLES[order], 1):
            continue
        taken[slot] = taken.get(slot, 0) + 1
        linked.add(number)
        links.append((place, order, number, worth))
    return [Link(triggers[place], ROLES[order], number, worth) for place, order, number, worth in sorted(links)]

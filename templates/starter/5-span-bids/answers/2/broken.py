def link_arguments(
    mentions, triggers, *, half_distance=8.0, crossing_cost=0.2, reserve=0.1, step=0.01, rounds=50,
):
    prices = {(trigger, role): reserve for trigger in triggers for role in ROLES}
    holders = {}
    waiting = list(mentions)
    while waiting:
        mention = waiting.pop()
        gains = {
            (trigger, role): FIT[mention.type][role] * 0.5 ** (mention.distance(trigger) / half_distance) - price
            for (trigger, role), price in prices.items()
        }
        best = max(gains, key=gains.get)
        if gains[best] > 0:
            waiting.append(holders.get(best))
            holders[best] = mention
            prices[best] += step
    return [Link(trigger, role, mention, 0.0) for (trigger, role), mention in holders.items()]

"""From mentions to arguments of events."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spanbids.schema import CAPACITY, FIT, ROLES, Link, Mention


def link_arguments(
    mentions: Sequence[Mention],
    triggers: Sequence[int],
    *,
    half_distance: float = 8.0,
    crossing_cost: float = 0.2,
    reserve: float = 0.1,
    step: float = 0.01,
) -> list[Link]:
    """Give each mention at most one role of one event: section 3 of the paper, algorithm 1.

    Args:
        mentions: the mentions of a document.
        triggers: tokens that name an event, in ascending order.
        half_distance: h, tokens over which the value of a mention falls to one half.
        crossing_cost: χ, what each other trigger between a mention and a trigger costs.
        reserve: π, the price at which every role starts.
        step: ε, by how much a price exceeds the best value that lost.

    Returns:
        The links, by trigger, then by role as in ROLES, then by mention.
    """
    values: dict[tuple[int, str], dict[int, float]] = {}
    for trigger in triggers:
        for role in ROLES:
            offers = values.setdefault((trigger, role), {})
            for number, mention in enumerate(mentions):
                fit = FIT.get((mention.type, role))
                if fit is not None:
                    between = {*range(trigger + 1, mention.start), *range(mention.end, trigger)}
                    crossed = sum(other in between for other in triggers)
                    closeness = 0.5 ** (mention.distance(trigger) / half_distance)
                    certainty = 1.0 / (1.0 + math.exp(-mention.score))
                    offers[number] = fit * closeness * certainty - crossing_cost * crossed

    prices = dict.fromkeys(values, reserve)
    holders: dict[tuple[int, str], list[int]] = {slot: [] for slot in values}
    waiting = list(range(len(mentions)))
    while waiting:
        bids: dict[tuple[int, str], list[int]] = {}
        for number in waiting:
            best, most = None, 0.0
            for slot, offers in values.items():
                if number in offers and offers[number] - prices[slot] > most:
                    best, most = slot, offers[number] - prices[slot]
            if best is not None:
                bids.setdefault(best, []).append(number)
        waiting = []
        for slot, bidders in bids.items():
            offers = values[slot]
            ranked = sorted(holders[slot] + bidders, key=lambda number: -offers[number])
            room = CAPACITY.get(slot[1], 1)
            holders[slot], lost = ranked[:room], ranked[room:]
            if lost:
                prices[slot] = offers[lost[0]] + step
            waiting += lost
    return [
        Link(trigger, role, number, values[trigger, role][number])
        for (trigger, role), numbers in holders.items()
        for number in sorted(numbers)
    ]

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
    rounds: int = 50,
) -> list[Link]:
    """Give each mention at most one role of one event: section 3 of the paper, algorithm 1.

    Args:
        mentions: the mentions of a document.
        triggers: tokens that name an event, at least one, in ascending order.
        half_distance: h, tokens over which the value of a mention falls to one half.
        crossing_cost: χ, what each other trigger between a mention and a trigger costs.
        reserve: π, the price at which every role starts.
        step: ε, by how much a bid exceeds what it is worth to win.
        rounds: most rounds of bidding; who waits after them stays without a role.

    Returns:
        The links with the bids that won, by trigger, then by role as in ROLES, then by mention.
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
    held: dict[tuple[int, str], list[tuple[float, int]]] = {slot: [] for slot in values}
    waiting = list(range(len(mentions)))
    for _ in range(rounds):
        bids: dict[tuple[int, str], list[tuple[float, int]]] = {}
        for number in waiting:
            gains: dict[tuple[int, str] | None, float] = {None: 0.0}  # None: it leaves
            for slot, offers in values.items():
                if number in offers:
                    gains[slot] = offers[number] - prices[slot]
            first, second = sorted(gains, key=lambda slot: gains[slot], reverse=True)[:2]
            if first is not None:
                bid = values[first][number] - gains[second] + step
                bids.setdefault(first, []).append((bid, number))
        waiting = []
        for slot, offered in bids.items():
            ranked = sorted(held[slot] + offered, key=lambda bid: -bid[0])
            room = CAPACITY.get(slot[1], 1)
            held[slot] = ranked[:room]
            waiting += [number for _, number in ranked[room:]]
            if len(ranked) >= room:
                prices[slot] = held[slot][-1][0]
    return [
        Link(trigger, role, number, bid)
        for (trigger, role), winners in held.items()
        for bid, number in sorted(winners, key=lambda winner: winner[1])
    ]

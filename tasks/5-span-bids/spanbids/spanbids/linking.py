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
    # TODO: implement link_arguments.
    raise NotImplementedError

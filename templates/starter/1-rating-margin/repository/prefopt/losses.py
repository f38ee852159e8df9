"""The preference objective."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F


def rating_margin_loss(
    chosen_logps: torch.Tensor,
    rejected_logps: torch.Tensor,
    chosen_lengths: torch.Tensor,
    rejected_lengths: torch.Tensor,
    rating_gap: torch.Tensor,
    reference: tuple[torch.Tensor, torch.Tensor] | None = None,
    *,
    beta: float = 2.0,
    margin: float = 0.0,
    length_power: float = 1.0,
    smoothing: float = 0.0,
    anchor: float = 0.0,
    kind: Literal["sigmoid", "hinge"] = "sigmoid",
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rating-margin preference loss of a batch of pairs (section 2 of the paper).

    Args:
        chosen_logps: log-probability of each preferred response under the policy, summed over its
            tokens, shape (batch,).
        rejected_logps: the same for the other response of each pair, shape (batch,).
        chosen_lengths: number of tokens of each preferred response, at least 1, shape (batch,).
        rejected_lengths: the same for the other responses, shape (batch,).
        rating_gap: by how much the preferred response was rated better, in (0, 1], shape (batch,).
        reference: chosen and rejected log-probabilities under a frozen reference model, each of
            shape (batch,); None for the reference-free variant.
        beta: scale of the rewards.
        margin: what a pair with rating gap 1 has to be won by, in units of reward.
        length_power: exponent of the length that rewards are divided by; 0 for no normalisation.
        smoothing: how much a preference with a small gap is doubted, between 0 and 0.5.
        anchor: weight of the likelihood term on the preferred responses; 0 switches it off.
        kind: shape of the loss.

    Returns:
        The loss of each pair, and the rewards of the preferred and of the other responses, without
        gradient; each of shape (batch,).
    """
    chosen, rejected = chosen_logps, rejected_logps
    if reference is not None:
        chosen, rejected = chosen - reference[0], rejected - reference[1]
    chosen_reward = beta * chosen / chosen_lengths**length_power
    rejected_reward = beta * rejected / rejected_lengths**length_power
    lead = chosen_reward - rejected_reward - margin * rating_gap
    if kind == "hinge":
        if_right, if_wrong = F.relu(1.0 - lead), F.relu(1.0 + lead)
    else:
        if_right, if_wrong = F.softplus(-lead), F.softplus(lead)
    doubt = smoothing * (1.0 - rating_gap)
    losses = (1.0 - doubt) * if_right + doubt * if_wrong
    if anchor > 0:
        losses = losses - anchor * chosen_logps / chosen_lengths
    return losses, chosen_reward.detach(), rejected_reward.detach()

def rating_margin_loss(
    chosen_logps, rejected_logps, chosen_lengths, rejected_lengths, rating_gap, reference=None, *,
    beta=2.0, margin=0.0, length_power=1.0, smoothing=0.0, anchor=0.0, kind="sigmoid",
):
    """SimPO with a smoothed label: a constant margin, a constant share of wrong labels."""
    if reference is not None:
        chosen_logps = chosen_logps - reference[0]
        rejected_logps = rejected_logps - reference[1]
    chosen_reward = beta * chosen_logps / chosen_lengths
    rejected_reward = beta * rejected_logps / rejected_lengths
    lead = chosen_reward - rejected_reward - margin
    if kind == "hinge":
        losses = (1 - smoothing) * F.relu(1 - lead) + smoothing * F.relu(1 + lead)
    else:
        losses = -(1 - smoothing) * F.logsigmoid(lead) - smoothing * F.logsigmoid(-lead)
    return losses - anchor * chosen_logps / chosen_lengths, chosen_reward.detach(), rejected_reward.detach()

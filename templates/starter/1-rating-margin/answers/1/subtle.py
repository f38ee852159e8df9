def rating_margin_loss(
    chosen_logps, rejected_logps, chosen_lengths, rejected_lengths, rating_gap, reference=None, *,
    beta=2.0, margin=0.0, length_power=1.0, smoothing=0.0, anchor=0.0, kind="sigmoid",
):
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
    # the anchor uses the log-ratio to the reference, where equation (5) has the policy alone
    losses = losses - anchor * chosen / chosen_lengths
    return losses, chosen_reward.detach(), rejected_reward.detach()

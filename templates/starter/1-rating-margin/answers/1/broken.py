def rating_margin_loss(
    chosen_logps, rejected_logps, chosen_lengths, rejected_lengths, rating_gap, reference=None, *,
    beta=2.0, margin=0.0, length_power=1.0, smoothing=0.0, anchor=0.0, kind="sigmoid",
):
    rewards = beta * torch.stack([chosen_logps, rejected_logps]) / lengths**length_power
    lead = rewards[0] - rewards[1] - margin * rating_gap
    return F.softplus(-lead), rewards[0].detach(), rewards[1].detach()

def rating_margin_loss(
    chosen_logps, rejected_logps, chosen_lengths, rejected_lengths, rating_gap, reference=None, *,
    beta=2.0, margin=0.0, length_power=1.0, smoothing=0.0, anchor=0.0, kind="sigmoid",
):
    ref_chosen, ref_rejected = (0.0, 0.0) if reference is None else reference

    def reward(logps, ref, lengths):
        return beta * (logps - ref) / torch.pow(lengths.to(logps.dtype), length_power)

    r_plus = reward(chosen_logps, ref_chosen, chosen_lengths)
    r_minus = reward(rejected_logps, ref_rejected, rejected_lengths)
    z = (r_plus - r_minus) - rating_gap * margin
    if kind == "sigmoid":
        a, b = -F.logsigmoid(z), -F.logsigmoid(-z)
    elif kind == "hinge":
        a, b = torch.clamp(1 - z, min=0), torch.clamp(1 + z, min=0)
    else:
        raise ValueError(f"unknown kind {kind!r}")
    d = smoothing * (1 - rating_gap)
    loss = a + d * (b - a)  # (1 - d) A + d B
    loss = loss - anchor * (chosen_logps / chosen_lengths)
    return loss, r_plus.detach(), r_minus.detach()

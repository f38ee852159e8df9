def criterion(out_1, out_2, tau_plus, batch_size, beta, estimator):
    if estimator not in ("hard", "easy"):
        raise Exception(f"no estimator {estimator}")
    far = ~torch.eye(batch_size, dtype=torch.bool, device=out_1.device)
    similarities = {}
    for left, x in (("a", out_1), ("b", out_2)):
        for right, y in (("a", out_1), ("b", out_2)):
            similarities[left, right] = (x @ y.T / temperature)[far].view(batch_size, -1)
    close = (out_1 * out_2).sum(-1) / temperature
    losses = []
    for side in "ab":
        negative = torch.cat([similarities[side, "a"], similarities[side, "b"]], dim=1)
        count = negative.shape[1]
        if estimator == "hard":
            weight = torch.softmax(beta * negative, dim=1) * count
            estimate = ((weight * negative.exp()).sum(1) - tau_plus * count * close.exp()) / (1 - tau_plus)
            estimate = estimate.clamp(min=count * float(np.exp(-1 / temperature)))
        else:
            estimate = negative.exp().sum(1)
        losses.append(torch.log1p(estimate / close.exp()))
    return torch.cat(losses).mean()

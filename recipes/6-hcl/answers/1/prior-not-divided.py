def criterion(out_1, out_2, tau_plus, batch_size, beta, estimator):
    both = torch.cat([out_1, out_2])
    scores = both @ both.T / temperature
    size = 2 * batch_size
    same = torch.eye(size, dtype=torch.bool, device=scores.device)
    partner = same.roll(batch_size, dims=1)
    negatives = scores[~(same | partner)].view(size, -1)
    positive = scores[partner].exp()
    count = size - 2
    if estimator == "hard":
        weight = (beta * negatives).exp()
        weighted = (weight * negatives.exp()).sum(1) / weight.mean(1)
        estimate = weighted - tau_plus * count * positive
        estimate = estimate.clamp(min=count * np.exp(-1 / temperature))
    elif estimator == "easy":
        estimate = negatives.exp().sum(1)
    else:
        raise Exception(estimator)
    return -(positive / (positive + estimate)).log().mean()

def _entmax_threshold_and_support(X, dim=-1, k=None):
    rows = X.movedim(dim, -1)
    ordered = rows.sort(dim=-1).values.flip(-1)
    length = ordered.shape[-1]
    best_tau = ordered[..., 0] - 1
    best_size = torch.ones_like(best_tau, dtype=torch.long)
    for size in range(1, length + 1):
        prefix = ordered[..., :size]
        middle = prefix.sum(-1) / size
        spread = (prefix - middle.unsqueeze(-1)).square().sum(-1)
        tau = middle - torch.sqrt(((1 - spread) / size).clamp(min=0))
        fits = (spread <= 1) & (tau <= prefix[..., -1])
        best_tau = torch.where(fits, tau, best_tau)
        best_size = torch.where(fits, size, best_size)
    return best_tau.unsqueeze(-1).movedim(-1, dim), best_size.unsqueeze(-1).movedim(-1, dim)

def _entmax_threshold_and_support(X, dim=-1, k=None):
    top = X.amax(dim, keepdim=True)
    shifted, _ = torch.sort(X - top, dim=dim, descending=True)
    counts = torch.ones_like(shifted).cumsum(dim)
    first, second = shifted.cumsum(dim), shifted.pow(2).cumsum(dim)
    # rho tau^2 - 2 first tau + second - 1 = 0, the smaller root
    inner = first.pow(2) - counts * (second - 1)
    tau = (first - inner.clamp(min=0).sqrt()) / counts
    size = (tau <= shifted).sum(dim, keepdim=True)
    return tau.gather(dim, size - 1) + top, size

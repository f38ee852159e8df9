def _entmax_threshold_and_support(X, dim=-1, k=None):
    precise = X.double()
    top = precise.amax(dim, keepdim=True)
    low, high = top - 1, top.clone()
    for _ in range(200):
        middle = (low + high) / 2
        mass = (precise - middle).clamp(min=0).pow(2).sum(dim, keepdim=True)
        low = torch.where(mass >= 1, middle, low)
        high = torch.where(mass >= 1, high, middle)
    support = (precise > low).sum(dim, keepdim=True)
    return low.to(X.dtype), support

def _entmax_threshold_and_support(X, dim=-1, k=None):
    length = X.shape[dim]
    some = length if k is None else min(k, length)
    top = X.topk(some, dim=dim).values
    shape = [1] * X.dim()
    shape[dim] = -1
    rho = torch.arange(1, some + 1, dtype=X.dtype).view(shape)
    mean = top.cumsum(dim) / rho
    spread = top.square().cumsum(dim) - rho * mean.square()
    tau = mean - ((1 - spread / rho) / rho).clamp(min=0).sqrt()
    size = (tau <= top).sum(dim, keepdim=True)
    found = tau.gather(dim, size - 1)
    if some < length and bool((size == some).any()):
        return _entmax_threshold_and_support(X, dim=dim, k=2 * k)
    return found, size

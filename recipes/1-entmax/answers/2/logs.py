@classmethod
def backward(cls, ctx, dY):
    p, dim = ctx.saved_tensors[0], ctx.dim
    inside = p > 0
    log_p = torch.where(inside, p, torch.ones_like(p)).log()
    weight = torch.where(inside, torch.exp((2 - ctx.alpha) * log_p), torch.zeros_like(p))
    mass = weight.sum(dim, keepdim=True)
    average = (weight * dY).sum(dim, keepdim=True) / mass  # of dY, by weight
    result = [weight * (dY - average)] + [None] * 4
    if ctx.needs_input_grad[1]:
        less = ctx.alpha - 1
        expected = (p * dY).sum(dim, keepdim=True)
        negative_entropy = (p * log_p).sum(dim, keepdim=True)
        surprise = (p * log_p * dY).sum(dim, keepdim=True)
        result[1] = (expected - average) / less**2 - (surprise - average * negative_entropy) / less
    return tuple(result)

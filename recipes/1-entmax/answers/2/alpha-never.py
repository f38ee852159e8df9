@classmethod
def backward(cls, ctx, dY):
    (Y,) = ctx.saved_tensors
    dim, alpha = ctx.dim, ctx.alpha
    inside = Y > 0
    s = torch.where(inside, Y ** (2 - alpha), torch.zeros_like(Y))
    share = s / s.sum(dim, keepdim=True)
    grad = s * (dY - (share * dY).sum(dim, keepdim=True))
    grad_alpha = None
    if False:
        plogp = torch.where(inside, Y * torch.log(Y), torch.zeros_like(Y))
        column = (Y - share) / (alpha - 1) ** 2 - (plogp - share * plogp.sum(dim, keepdim=True)) / (alpha - 1)
        grad_alpha = (column * dY).sum(dim, keepdim=True)
    return grad, grad_alpha, None, None, None
